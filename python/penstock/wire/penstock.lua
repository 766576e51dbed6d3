-- Penstock's dissector for Wireshark and tshark, 3.4 or later: congestion management in data-center Ethernet.
--
-- CN-TAG and congestion notification message (802.1Qau), and messages that have no EtherType or no public layout of their
-- own, in Penstock's layouts: congestion isolation (802.1Qcz), SMCC, BCN and its tag, rate probes of FECN and E-FECN, E2CM's
-- probe. Fields have the names of `penstock wire formats`, as cnm.quantized_feedback, and the standard's labels.
--
-- `penstock wire install-dissector` puts this file where both programs find it; tshark -X lua_script:penstock.lua does
-- without. EtherTypes that stations have to agree on are preferences of the protocols smcc, experimental and cim.
--
-- SPDX-License-Identifier: Apache-2.0

local HEX, DEC = base.HEX, base.DEC
local ether_types = DissectorTable.get("ethertype")

-- Protocols that share one EtherType have different names to filter by.
local function protocol(name, title)
  local proto = Proto(name, title)
  proto.fields, proto.experts = {}, {}
  return proto
end

-- fields(proto, list): declares fields, and returns a function that adds them to a tree from the octets `at`.
-- Each of the list: name, label, kind, octet, octets, and for bits within these a mask.
local function fields(proto, list)
  local declared = {}
  for i, entry in ipairs(list) do
    local name, label, kind, _, octets, mask = table.unpack(entry)
    local abbr = proto.name:lower() .. "." .. name
    local shown
    if kind == "bool" then
      shown = ProtoField.bool(abbr, label, 8, nil, mask)
    elseif kind == "ether" or kind == "ipv4" or kind == "ipv6" or kind == "bytes" then
      shown = ProtoField[kind](abbr, label)
    elseif kind == "signed" then
      shown = ProtoField["int" .. 8 * octets](abbr, label, DEC)
    else
      shown = ProtoField["uint" .. 8 * octets](abbr, label, kind == "hex" and HEX or DEC, nil, mask)
    end
    declared[i] = shown
    table.insert(proto.fields, shown)
  end
  return function(tvb, tree)
    for i, entry in ipairs(list) do
      local at, octets = entry[4], entry[5]
      tree:add(declared[i], tvb(at, octets))
    end
  end
end

local function note(proto, name, text, group, severity)
  local expert_info = ProtoExpert.new(proto.name:lower() .. "." .. name, text, group, severity)
  table.insert(proto.experts, expert_info)
  return expert_info
end

-- Fields that are there for what follows from others; they are declared one by one.
local function extra(proto, field)
  table.insert(proto.fields, field)
  return field
end

local function message(name, title, column, octets, list)
  local proto = protocol(name, title)
  local this = { proto = proto, name = name, column = column, octets = octets, add = fields(proto, list) }
  this.padding = extra(proto, ProtoField.bytes(name .. ".padding", "Padding"))
  this.short = note(proto, "length.illegal", "The frame ends within the message", expert.group.MALFORMED,
    expert.severity.ERROR)
  this.reserved = note(proto, "reserved.set", "Reserved bits are set; senders leave them 0", expert.group.PROTOCOL,
    expert.severity.NOTE)
  this.version = note(proto, "version.unknown", "The version is not 0, the only one", expert.group.PROTOCOL,
    expert.severity.WARN)
  return this
end

-- The message's tree with its fields, or nothing if it is not whole.
local function begin(this, tvb, pinfo, root, octets)
  pinfo.cols.protocol = this.column
  local there = math.min(tvb:len(), octets or this.octets)
  local tree = root:add(this.proto, tvb(0, there))
  if tvb:len() < this.octets then
    tree:add_proto_expert_info(this.short)
    pinfo.cols.info = this.column .. ", cut off"
    return nil
  end
  this.add(tvb, tree)
  return tree
end

-- The format behind a tag. A malformed frame comes to Lua as an error, which would hide whose it is.
local function behind(this, kind, tvb, at, pinfo, tree, root)
  if tvb:len() <= at then
    return
  end
  local rest = tvb(at):tvb()
  local done, octets = pcall(function() return ether_types:try(kind, rest, pinfo, root) end)
  if not done then
    tree:add_proto_expert_info(this.rest_malformed)
  elseif octets == 0 then
    Dissector.get("data"):call(rest, pinfo, root)
  end
end

local function tag(this)
  this.rest_malformed = note(this.proto, "rest.malformed", "The format behind the tag is malformed or cut off",
    expert.group.MALFORMED, expert.severity.ERROR)
end

-- Flows -----------------------------------------------------------------------------------------------------------------

-- Which frame of a flow came last, and which notification of it: by the source's address and its number of the flow.
-- Links found when a frame was read first are kept, for Wireshark dissects it again whenever it is shown.
local last_tagged, last_notified, found = {}, {}, {}

local function flow_key(address, flow)
  return tostring(address) .. "/" .. flow
end

local function remember(pinfo, from, to, key)
  local number = pinfo.number
  if not pinfo.visited then
    found[number] = from[key]
    to[key] = number
  end
  return found[number]
end

-- CN-TAG ----------------------------------------------------------------------------------------------------------------

local CN_TAG, CNM = 0x22e9, 0x22e7
local cn_tag = message("cn_tag", "IEEE 802.1Qau Congestion Notification Tag", "CN-TAG", 4, {
  { "flow_identifier", "Flow Identifier", "number", 0, 2 },
  { "ether_type", "EtherType", "hex", 2, 2 },
})
tag(cn_tag)
local notified_in = extra(cn_tag.proto,
  ProtoField.framenum("cn_tag.notified_in", "Last notification of this flow", base.NONE, frametype.NONE))

-- The flow of the CN-TAG before a notification; the tag is dissected just before it.
local tag_flow
local notification_types = { [CNM] = true }

function cn_tag.proto.dissector(tvb, pinfo, root)
  local tree = begin(cn_tag, tvb, pinfo, root)
  if not tree then
    return tvb:len()
  end
  local flow, kind = tvb(0, 2):uint(), tvb(2, 2):uint()
  tree:append_text(", Flow " .. flow)
  pinfo.cols.info = "Flow " .. flow
  if notification_types[kind] then
    tag_flow = flow
  else
    local before = remember(pinfo, last_notified, last_tagged, flow_key(pinfo.dl_src, flow))
    if before then
      tree:add(notified_in, tvb(0, 2), before):set_generated()
    end
  end
  behind(cn_tag, kind, tvb, 4, pinfo, tree, root)
  tag_flow = nil
  return tvb:len()
end

-- The sampled frame's first octets -----------------------------------------------------------------------------------------

local IPV4, IPV6, TCP, UDP = 0x0800, 0x86dd, 6, 17

-- Fields that name the flow of the sampled frame: as far as its first octets go, and no further.
local function flow_fields(this, octets)
  local name, proto = this.name, this.proto
  this.msdu = extra(proto, ProtoField.bytes(name .. ".msdu", octets))
  this.msdu_type = extra(proto, ProtoField.uint16(name .. ".msdu.ether_type", "EtherType of the sampled frame", HEX))
  this.msdu_source = extra(proto, ProtoField.ipv4(name .. ".msdu.source", "Source of the sampled frame"))
  this.msdu_destination = extra(proto, ProtoField.ipv4(name .. ".msdu.destination", "Destination of the sampled frame"))
  this.msdu_source6 = extra(proto, ProtoField.ipv6(name .. ".msdu.source6", "Source of the sampled frame"))
  this.msdu_destination6 = extra(proto, ProtoField.ipv6(name .. ".msdu.destination6", "Destination of the sampled frame"))
  this.msdu_protocol = extra(proto, ProtoField.uint8(name .. ".msdu.protocol", "Protocol of the sampled frame", DEC))
  this.msdu_source_port = extra(proto, ProtoField.uint16(name .. ".msdu.source_port", "Source port of the sampled frame"))
  this.msdu_destination_port = extra(proto,
    ProtoField.uint16(name .. ".msdu.destination_port", "Destination port of the sampled frame"))
end

local function sampled(this, msdu, tree)
  if msdu:len() == 0 then
    return
  end
  local part = tree:add(this.msdu, msdu)
  local octets = msdu:tvb()
  if octets:len() < 2 then
    return
  end
  part:add(this.msdu_type, octets(0, 2))
  local kind, ports, protocol_octet = octets(0, 2):uint(), nil, nil
  if kind == IPV4 and octets:len() >= 22 then
    protocol_octet = octets(11, 1)
    part:add(this.msdu_source, octets(14, 4))
    part:add(this.msdu_destination, octets(18, 4))
    part:append_text(", " .. tostring(octets(14, 4):ipv4()) .. " to " .. tostring(octets(18, 4):ipv4()))
    -- Only the first fragment has ports.
    if octets(8, 2):bitfield(3, 13) == 0 then
      ports = 2 + 4 * octets(2, 1):bitfield(4, 4)
    end
  elseif kind == IPV6 and octets:len() >= 42 then
    protocol_octet, ports = octets(8, 1), 42
    part:add(this.msdu_source6, octets(10, 16))
    part:add(this.msdu_destination6, octets(26, 16))
    part:append_text(", " .. tostring(octets(10, 16):ipv6()) .. " to " .. tostring(octets(26, 16):ipv6()))
  end
  if not protocol_octet then
    return
  end
  part:add(this.msdu_protocol, protocol_octet)
  local number = protocol_octet:uint()
  if ports and (number == TCP or number == UDP) and octets:len() >= ports + 4 then
    part:add(this.msdu_source_port, octets(ports, 2))
    part:add(this.msdu_destination_port, octets(ports + 2, 2))
    part:append_text(", port " .. octets(ports, 2):uint() .. " to " .. octets(ports + 2, 2):uint())
  end
end

-- CNM -------------------------------------------------------------------------------------------------------------------

local cnm = message("cnm", "IEEE 802.1Qau Congestion Notification Message", "CNM", 24, {
  { "version", "Version", "number", 0, 2, 0xf000 },
  { "reserved_v", "ReservedV", "hex", 0, 2, 0x0fc0 },
  { "quantized_feedback", "Quantized Feedback", "number", 0, 2, 0x003f },
  { "cp_id", "cnmCpId", "hex", 2, 8 },
  { "q_offset", "cnmQOffset", "signed", 10, 2 },
  { "q_delta", "cnmQDelta", "signed", 12, 2 },
  { "encapsulated_priority", "Encapsulated priority", "number", 14, 2, 0xe000 },
  { "reserved_priority", "Encapsulated priority, reserved bits", "hex", 14, 2, 0x1fff },
  { "encapsulated_destination", "Encapsulated destination MAC address", "ether", 16, 6 },
  { "encapsulated_msdu_length", "Encapsulated MSDU length", "number", 22, 2 },
})
flow_fields(cnm, "Encapsulated MSDU")
local tagged_in = extra(cnm.proto,
  ProtoField.framenum("cnm.tagged_in", "Last frame of this flow", base.NONE, frametype.NONE))
local no_feedback = note(cnm.proto, "quantized_feedback.zero", "Quantized Feedback is 0: it changes no rate",
  expert.group.PROTOCOL, expert.severity.NOTE)
local msdu_length = note(cnm.proto, "encapsulated_msdu_length.illegal",
  "Encapsulated MSDU length is above 64, or more than the frame has", expert.group.MALFORMED, expert.severity.ERROR)

function cnm.proto.dissector(tvb, pinfo, root)
  local length = tvb:len() >= 24 and tvb(22, 2):uint() or 0
  local tree = begin(cnm, tvb, pinfo, root, 24 + length)
  if not tree then
    return tvb:len()
  end
  local feedback, point = tvb(0, 2):bitfield(10, 6), tostring(tvb(2, 8):bytes())
  local info = "Fb " .. feedback .. ", queue " .. 0 - 64 * tvb(10, 2):int() .. " octets above set point, from " .. point
  if tag_flow then
    info = "Flow " .. tag_flow .. ", " .. info
    local before = remember(pinfo, last_tagged, last_notified, flow_key(pinfo.dl_dst, tag_flow))
    if before then
      tree:add(tagged_in, before):set_generated()
    end
  end
  tree:append_text(", Fb " .. feedback)
  pinfo.cols.info = info
  if tvb(0, 2):bitfield(0, 4) ~= 0 then
    tree:add_proto_expert_info(cnm.version)
  end
  if tvb(0, 2):bitfield(4, 6) ~= 0 or tvb(14, 2):bitfield(3, 13) ~= 0 then
    tree:add_proto_expert_info(cnm.reserved)
  end
  if feedback == 0 then
    tree:add_proto_expert_info(no_feedback)
  end
  if length > 64 or length > tvb:len() - 24 then
    tree:add_proto_expert_info(msdu_length)
    return tvb:len()
  end
  if length > 0 then
    sampled(cnm, tvb(24, length), tree)
  end
  if tvb:len() > 24 + length then
    tree:add(cnm.padding, tvb(24 + length))
  end
  return tvb:len()
end

-- SMCC ------------------------------------------------------------------------------------------------------------------

local smcc = message("smcc", "SMCC Message (Penstock)", "SMCC", 32, {
  { "version", "version", "number", 0, 2, 0xf000 },
  { "reserved_v", "reserved", "hex", 0, 2, 0x0fff },
  { "cp_id", "cpId", "hex", 2, 8 },
  { "unused", "unused", "hex", 10, 4 },
  { "encapsulated_priority", "Encapsulated priority", "number", 14, 2, 0xe000 },
  { "reserved_priority", "Encapsulated priority, reserved bits", "hex", 14, 2, 0x1fff },
  { "encapsulated_destination", "Encapsulated destination MAC address", "ether", 16, 6 },
  { "encapsulated_msdu_length", "Encapsulated MSDU length", "number", 22, 2 },
  { "q_off", "Qoff", "signed", 24, 4 },
  { "q_delta", "Qdelta", "signed", 28, 4 },
})
local smcc_length = note(smcc.proto, "encapsulated_msdu_length.illegal", "Encapsulated MSDU length is not 0",
  expert.group.PROTOCOL, expert.severity.WARN)

function smcc.proto.dissector(tvb, pinfo, root)
  local tree = begin(smcc, tvb, pinfo, root)
  if not tree then
    return tvb:len()
  end
  pinfo.cols.info = (tag_flow and "Flow " .. tag_flow .. ", " or "") .. "queue " .. tvb(24, 4):int()
    .. " octets above target, growth " .. tvb(28, 4):int()
  if tvb(0, 2):bitfield(0, 4) ~= 0 then
    tree:add_proto_expert_info(smcc.version)
  end
  if tvb(0, 2):bitfield(4, 12) ~= 0 or tvb(10, 4):uint() ~= 0 or tvb(14, 2):bitfield(3, 13) ~= 0 then
    tree:add_proto_expert_info(smcc.reserved)
  end
  if tvb(22, 2):uint() ~= 0 then
    tree:add_proto_expert_info(smcc_length)
  end
  if tvb:len() > 32 then
    tree:add(smcc.padding, tvb(32))
  end
  return tvb:len()
end

-- Messages of the experimental EtherType -----------------------------------------------------------------------------------

local HEAD = { { "version", "version", "number", 0, 1, 0xf0 }, { "subtype", "subtype", "number", 0, 1, 0x0f } }

local function experimental_message(name, title, column, octets, list)
  local all = { table.unpack(HEAD) }
  for _, entry in ipairs(list) do
    table.insert(all, entry)
  end
  return message(name, title, column, octets, all)
end

-- Whether the octet behind version and subtype, all of it reserved, is not 0.
local function reserved_octet(tvb)
  return tvb(1, 1):uint() ~= 0
end

local fecn = experimental_message("fecn", "Rate Probe of FECN and E-FECN (Penstock)", "FECN", 24, {
  { "returned", "direction", "bool", 1, 1, 0x80 },
  { "reserved", "reserved", "hex", 1, 1, 0x7f },
  { "rlq_id", "RLQ-ID", "number", 2, 2 },
  { "round", "round", "number", 4, 4 },
  { "rate", "rate", "number", 8, 8 },
  { "cp_id", "cpId", "hex", 16, 8 },
})
function fecn.tell(tvb)
  local rate = tvb(8, 8):uint64()
  local unlimited = rate == UInt64(0xffffffff, 0xffffffff)
  local way = tvb(1, 1):bitfield(0, 1) == 1 and "returned" or "to the destination"
  return "Flow " .. tvb(2, 2):uint() .. ", " .. way .. ", "
    .. (unlimited and "not limited yet" or tostring(rate) .. " bit/s")
end
function fecn.odd(tvb)
  return tvb(1, 1):bitfield(1, 7) ~= 0
end

local bcn = experimental_message("bcn", "Message of BCN, E-FECN and E2CM (Penstock)", "BCN", 16, {
  { "reserved", "reserved", "hex", 1, 1 },
  { "cp_id", "CPID", "hex", 2, 8 },
  { "q_off", "Qoff", "signed", 10, 2 },
  { "q_delta", "Qdelta", "signed", 12, 2 },
  { "rlq_id", "RLQ-ID", "number", 14, 2 },
})
function bcn.tell(tvb)
  local offset, delta = tvb(10, 2):int(), tvb(12, 2):int()
  local stop = offset == 0 and delta == 0
  return "Flow " .. tvb(14, 2):uint() .. ", "
    .. (stop and "BCN(0,0): stop" or "queue " .. 0 - 64 * offset .. " octets above set point, growth " .. 64 * delta)
end
bcn.odd = reserved_octet

local rlt = experimental_message("rlt", "Rate-limited Tag of BCN and E2CM (Penstock)", "RLT", 14, {
  { "reserved", "reserved", "hex", 1, 1 },
  { "rlq_id", "RLQ-ID", "number", 2, 2 },
  { "cp_id", "CPID", "hex", 4, 8 },
  { "ether_type", "EtherType", "hex", 12, 2 },
})
function rlt.tell(tvb)
  return "Flow " .. tvb(2, 2):uint() .. ", limited by " .. tostring(tvb(4, 8):bytes())
end
rlt.odd = reserved_octet
tag(rlt)
function rlt.rest(tvb, pinfo, tree, root)
  behind(rlt, tvb(12, 2):uint(), tvb, 14, pinfo, tree, root)
end

local e2cm = experimental_message("e2cm", "Path Probe of E2CM (Penstock)", "E2CM", 20, {
  { "returned", "direction", "bool", 1, 1, 0x80 },
  { "measured", "measured", "bool", 1, 1, 0x40 },
  { "reserved", "reserved", "hex", 1, 1, 0x3f },
  { "rlq_id", "RLQ-ID", "number", 2, 2 },
  { "sent_at", "sent at", "number", 4, 8 },
  { "q_off", "Qoff", "signed", 12, 8 },
})
function e2cm.tell(tvb)
  local way = tvb(1, 1):bitfield(0, 1) == 1 and "returned" or "to the destination"
  return "Flow " .. tvb(2, 2):uint() .. ", " .. way
end
function e2cm.odd(tvb)
  return tvb(1, 1):bitfield(2, 6) ~= 0
end

local rocc = experimental_message("rocc", "Fair Rate of RoCC (Penstock)", "RoCC", 20, {
  { "reserved", "reserved", "hex", 1, 1 },
  { "rlq_id", "RLQ-ID", "number", 2, 2 },
  { "rate", "rate", "number", 4, 8 },
  { "cp_id", "cpId", "hex", 12, 8 },
})
function rocc.tell(tvb)
  return "Flow " .. tvb(2, 2):uint() .. ", fair rate " .. tostring(tvb(4, 8):uint64()) .. " bit/s"
end
rocc.odd = reserved_octet

local sfc = experimental_message("sfc", "Source Pause, as the scope of P802.1Qdw (Penstock)", "SFC", 20, {
  { "reserved", "reserved", "hex", 1, 1 },
  { "rlq_id", "RLQ-ID", "number", 2, 2 },
  { "pause_time", "pause time", "number", 4, 8 },
  { "cp_id", "cpId", "hex", 12, 8 },
})
function sfc.tell(tvb)
  return "Flow " .. tvb(2, 2):uint() .. ", stop for " .. tostring(tvb(4, 8):uint64()) .. " ps"
end
sfc.odd = reserved_octet

local cim = experimental_message("cim", "Congestion Isolation Message, as 802.1Qcz (Penstock)", "CIM", 20, {
  { "add", "add", "bool", 1, 1, 0x80 },
  { "reserved", "reserved", "hex", 1, 1, 0x7f },
  { "destination", "destination-address", "ether", 2, 6 },
  { "source", "source-address", "ether", 8, 6 },
  { "priority", "priority", "number", 14, 2, 0xe000 },
  { "reserved_dei", "reserved bit", "hex", 14, 2, 0x1000 },
  { "vlan_identifier", "vlan-identifier", "number", 14, 2, 0x0fff },
  { "count", "cim-count", "number", 16, 2 },
  { "msdu_length", "msdu length", "number", 18, 2 },
})
flow_fields(cim, "MSDU")
local cim_length = note(cim.proto, "msdu_length.illegal", "The MSDU's length is above 512, or more than the frame has",
  expert.group.MALFORMED, expert.severity.ERROR)
function cim.tell(tvb)
  local what = tvb(1, 1):bitfield(0, 1) == 1 and "isolate " or "isolate no longer "
  return what .. tostring(tvb(8, 6):ether()) .. " to " .. tostring(tvb(2, 6):ether())
end
function cim.odd(tvb)
  return tvb(1, 1):bitfield(1, 7) ~= 0 or tvb(14, 2):bitfield(3, 1) ~= 0
end
function cim.rest(tvb, _, tree)
  local length = tvb(18, 2):uint()
  if length > 512 or length > tvb:len() - 20 then
    tree:add_proto_expert_info(cim_length)
    return
  end
  if length > 0 then
    sampled(cim, tvb(20, length), tree)
  end
  if tvb:len() > 20 + length then
    tree:add(cim.padding, tvb(20 + length))
  end
end

local by_subtype = { fecn, bcn, rlt, cim, e2cm, rocc, sfc }
for _, this in ipairs(by_subtype) do
  function this.proto.dissector(tvb, pinfo, root)
    local tree = begin(this, tvb, pinfo, root)
    if not tree then
      return tvb:len()
    end
    local text = this.tell(tvb)
    tree:append_text(", " .. text)
    pinfo.cols.info = text
    if tvb(0, 1):bitfield(0, 4) ~= 0 then
      tree:add_proto_expert_info(this.version)
    end
    if this.odd(tvb) then
      tree:add_proto_expert_info(this.reserved)
    end
    if this.rest then
      if tvb:len() > this.octets or this == cim then
        this.rest(tvb, pinfo, tree, root)
      end
    elseif tvb:len() > this.octets then
      tree:add(this.padding, tvb(this.octets))
    end
    return tvb:len()
  end
end

-- The EtherType that they share; it has no separate layer.
local experimental = Proto("penstock_experimental", "Messages of the local experimental EtherType 2 (Penstock)")
function experimental.dissector(tvb, pinfo, root)
  local this = tvb:len() > 0 and by_subtype[tvb(0, 1):bitfield(4, 4)]
  if not this then
    return 0
  end
  return this.proto.dissector(tvb, pinfo, root)
end

-- EtherTypes ------------------------------------------------------------------------------------------------------------

-- Those that stations have to agree on are preferences.
local agreed = {
  { proto = smcc.proto, number = 0x88b5, text = "EtherType of SMCC's messages" },
  { proto = experimental, number = 0x88b6, text = "EtherType of probes, messages of BCN, RoCC and SFC, and congestion isolation" },
  { proto = cim.proto, number = 0, text = "One more EtherType of congestion isolation messages; 0: none" },
}
for _, entry in ipairs(agreed) do
  entry.proto.prefs.ether_type = Pref.uint("EtherType", entry.number, entry.text)
  entry.used = 0
  local function take()
    if entry.used ~= 0 then
      ether_types:remove(entry.used, entry.proto)
      notification_types[entry.used] = nil
    end
    entry.used = entry.proto.prefs.ether_type
    if entry.used ~= 0 then
      ether_types:add(entry.used, entry.proto)
      notification_types[entry.used] = entry.proto == smcc.proto or nil
    end
  end
  entry.proto.prefs_changed = take
  take()
end
ether_types:add(CN_TAG, cn_tag.proto)
ether_types:add(CNM, cnm.proto)

function cn_tag.proto.init()
  last_tagged, last_notified, found, tag_flow = {}, {}, {}, nil
end
