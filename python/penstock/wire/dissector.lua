-- Penstock's dissector for Wireshark and tshark, 3.4 or later: congestion management in data-center Ethernet.
--
-- CN-TAG and congestion notification message (802.1Qau), and messages that have no EtherType or no public layout of their
-- own, in Penstock's layouts. Fields have the names of `penstock wire formats`, as cnm.quantized_feedback, and the standard's
-- labels. EtherTypes that stations have to agree on are preferences of the protocols smcc, penstock_experimental and cim.
--
-- `penstock wire install-dissector` writes this file, with the formats, to where both programs find it; tshark -X
-- lua_script:penstock.lua does without.
--
-- SPDX-License-Identifier: Apache-2.0

-- The formats as Penstock declares them.
local FORMATS = @FORMATS@

-- Those of MRC, each with the opcode of the base transport header before it.
local MRC = @MRC@

local HEX, DEC = base.HEX, base.DEC
local IPV4, IPV6, TCP, UDP = 0x0800, 0x86dd, 6, 17
local ether_types = DissectorTable.get("ethertype")

local function note(this, name, text, group, severity)
  local expert_info = ProtoExpert.new(this.name .. "." .. name, text, expert.group[group], expert.severity[severity])
  table.insert(this.experts, expert_info)
  return expert_info
end

local function extra(this, field)
  table.insert(this.fields, field)
  return field
end

-- Fields --------------------------------------------------------------------------------------------------------------

local WITHOUT_BASE = { mac = "ether", ipv4 = "ipv4", ipv6 = "ipv6" }

-- Declares a field. One that is less than its octets has a mask.
local function declare(this, field)
  local name, last = this.name .. "." .. field.name, field.first_bit + field.bits
  field.at = math.floor(field.first_bit / 8)
  field.octets = math.ceil(last / 8) - field.at
  local below = 8 * (field.at + field.octets) - last
  local mask = field.bits < 8 * field.octets and (2 ^ field.bits - 1) * 2 ^ below or nil
  if field.shown_as == "flag" then
    field.proto = ProtoField.bool(name, field.label, 8, nil, mask)
  elseif WITHOUT_BASE[field.shown_as] then
    field.proto = ProtoField[WITHOUT_BASE[field.shown_as]](name, field.label)
  elseif field.shown_as == "signed" then
    field.proto = ProtoField["int" .. 8 * field.octets](name, field.label, DEC)
  else
    field.proto = ProtoField["uint" .. 8 * field.octets](name, field.label, field.shown_as == "hex" and HEX or DEC, nil, mask)
  end
  return extra(this, field.proto)
end

-- A field's value: a number, or a text.
local function value(field, tvb)
  local range = tvb(field.at, field.octets)
  if field.shown_as == "mac" then
    return tostring(range:ether())
  elseif field.shown_as == "signed" then
    return field.octets > 4 and range:int64() or range:int()
  elseif field.shown_as == "hex" and field.bits == 64 then
    return tostring(range:bytes())
  end
  return range:bitfield(field.first_bit % 8, field.bits)
end

-- The text of the column Info: {field}, {-64*field}, {field=1,other=0?text|other text}.
local function expand(this, text, tvb)
  local function get(name)
    return value(this.by_name[name], tvb)
  end
  return (text:gsub("%b{}", function(part)
    local inner = part:sub(2, -2)
    local conditions, one, other = inner:match("^([^?]*)%?([^|]*)|(.*)$")
    if conditions then
      for name, wanted in conditions:gmatch("([%w_]+)=(%d+)") do
        if tostring(get(name)) ~= wanted then
          return expand(this, other, tvb)
        end
      end
      return one
    end
    local factor, name = inner:match("^(-?%d+)%*([%w_]+)$")
    -- A sum with 0 has no -0.
    return tostring(factor and 0 + tonumber(factor) * get(name) or get(inner))
  end))
end

-- Flows -----------------------------------------------------------------------------------------------------------------

-- Which frame of a flow came last, and which notification of it: by the source's address and its number of the flow.
-- Links found when a frame was read first are kept, for Wireshark dissects it again whenever it is shown.
local last_tagged, last_notified, found = {}, {}, {}

-- The flow of the CN-TAG before a notification; the tag is dissected just before it.
local tag_flow
local notification_types = {}

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

-- The sampled frame's first octets -----------------------------------------------------------------------------------------

-- Fields that name the flow of the sampled frame: as far as its first octets go, and no further.
local function sampled_fields(this, label)
  local function of(kind, name, text, shown)
    return extra(this, ProtoField[kind](this.name .. ".msdu" .. name, text .. (name == "" and "" or " of the sampled frame"), shown))
  end
  this.msdu = of("bytes", "", label)
  this.msdu_type = of("uint16", ".ether_type", "EtherType", HEX)
  this.msdu_source, this.msdu_source6 = of("ipv4", ".source", "Source"), of("ipv6", ".source6", "Source")
  this.msdu_destination = of("ipv4", ".destination", "Destination")
  this.msdu_destination6 = of("ipv6", ".destination6", "Destination")
  this.msdu_protocol = of("uint8", ".protocol", "Protocol", DEC)
  this.msdu_source_port = of("uint16", ".source_port", "Source port", DEC)
  this.msdu_destination_port = of("uint16", ".destination_port", "Destination port", DEC)
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

-- Messages and tags -------------------------------------------------------------------------------------------------------

-- Declares a format: its fields, and notes on frames that are wrong.
local function message(this)
  this.fields, this.experts, this.by_name, this.notes = {}, {}, {}, {}
  local about = this.message
  for _, field in ipairs(this.list) do
    this.by_name[field.name] = field
    declare(this, field)
    if field.name ~= "version" and field.fixed and field.name ~= "subtype" then
      this.notes[field] = note(this, field.name .. ".illegal", field.label .. " is not " .. field.usual, "PROTOCOL", "WARN")
    end
  end
  this.next = this.by_name.ether_type
  this.linked = not this.by_name.subtype and not this.next
  this.padding = extra(this, ProtoField.bytes(this.name .. ".padding", "Padding"))
  this.short = note(this, "length.illegal", "The frame ends within the message", "MALFORMED", "ERROR")
  this.reserved = note(this, "reserved.set", "Reserved bits are set; senders leave them 0", "PROTOCOL", "NOTE")
  if this.by_name.version then
    this.notes[this.by_name.version] = note(this, "version.unknown", "The version is not 0, the only one", "PROTOCOL", "WARN")
  end
  if this.next then
    this.rest_malformed = note(this, "rest.malformed", "The format behind the tag is malformed or cut off", "MALFORMED", "ERROR")
  end
  if this.name == "cn_tag" then
    this.link = extra(this, ProtoField.framenum("cn_tag.notified_in", "Last notification of this flow", base.NONE, frametype.NONE))
  elseif this.linked then
    notification_types[about.ether_type] = true
    this.link = extra(this, ProtoField.framenum(this.name .. ".tagged_in", "Last frame of this flow", base.NONE, frametype.NONE))
  end
  if about.strength and about.strength.unit == "|Fb|" then
    local field = this.by_name[about.strength.field]
    this.feedback = field
    this.no_feedback = note(this, field.name .. ".zero", field.label .. " is 0: it changes no rate", "PROTOCOL", "NOTE")
  end
  if about.sampled then
    sampled_fields(this, about.sampled.label)
    this.length = this.by_name[about.sampled.length]
    this.length_illegal = note(this, this.length.name .. ".illegal",
      this.length.label .. " is above " .. about.sampled.most .. ", or more than the frame has", "MALFORMED", "ERROR")
  end
  this.proto = Proto(this.name, this.title .. (this.own and " (Penstock)" or ""))
  this.proto.fields, this.proto.experts = this.fields, this.experts
end

-- The format behind a tag. A malformed frame comes to Lua as an error, which would hide whose it is.
local function behind(this, tvb, pinfo, tree, root)
  if tvb:len() <= this.octets then
    return
  end
  local rest, kind = tvb(this.octets):tvb(), value(this.next, tvb)
  local done, octets = pcall(function() return ether_types:try(kind, rest, pinfo, root) end)
  if not done then
    tree:add_proto_expert_info(this.rest_malformed)
  elseif octets == 0 then
    Dissector.get("data"):call(rest, pinfo, root)
  end
end

local function dissect_tag(this, tvb, pinfo, tree, root)
  if this.name == "cn_tag" then
    local flow = value(this.by_name.flow_identifier, tvb)
    if notification_types[value(this.next, tvb)] then
      tag_flow = flow
    else
      local before = remember(pinfo, last_notified, last_tagged, flow_key(pinfo.dl_src, flow))
      if before then
        tree:add(this.link, tvb(0, 2), before):set_generated()
      end
    end
  end
  behind(this, tvb, pinfo, tree, root)
  tag_flow = nil
end

local function dissect(this, tvb, pinfo, root)
  pinfo.cols.protocol = this.message.abbreviation
  local is_whole = tvb:len() >= this.octets
  local length = is_whole and this.length and value(this.length, tvb) or 0
  local tree = root:add(this.proto, tvb(0, math.min(tvb:len(), this.octets + length)))
  if not is_whole then
    tree:add_proto_expert_info(this.short)
    pinfo.cols.info = this.message.abbreviation .. ", cut off"
    return
  end
  local is_reserved_set = false
  for _, field in ipairs(this.list) do
    tree:add(field.proto, tvb(field.at, field.octets))
    is_reserved_set = is_reserved_set or field.reserved and tvb(field.at, field.octets):bitfield(field.first_bit % 8, field.bits) ~= 0
    if this.notes[field] and value(field, tvb) ~= field.usual then
      tree:add_proto_expert_info(this.notes[field])
    end
  end
  if is_reserved_set then
    tree:add_proto_expert_info(this.reserved)
  end
  if this.feedback and value(this.feedback, tvb) == 0 then
    tree:add_proto_expert_info(this.no_feedback)
  end
  local info = expand(this, this.message.info, tvb)
  tree:append_text(", " .. info)
  pinfo.cols.info = info
  if this.next then
    dissect_tag(this, tvb, pinfo, tree, root)
    return
  end
  if this.linked and tag_flow then
    pinfo.cols.info = "Flow " .. tag_flow .. ", " .. info
    local before = remember(pinfo, last_tagged, last_notified, flow_key(pinfo.dl_dst, tag_flow))
    if before then
      tree:add(this.link, before):set_generated()
    end
  end
  local at = this.octets + length
  if this.length and (length > this.message.sampled.most or at > tvb:len()) then
    tree:add_proto_expert_info(this.length_illegal)
    return
  end
  if length > 0 then
    sampled(this, tvb(this.octets, length), tree)
  end
  if tvb:len() > at then
    tree:add(this.padding, tvb(at))
  end
end

-- The EtherType that messages with a subtype share; it has no separate layer.
local experimental = Proto("penstock_experimental", "Messages of the local experimental EtherType 2 (Penstock)")
local protos, by_subtype = { penstock_experimental = experimental }, {}
for _, this in ipairs(FORMATS) do
  message(this)
  protos[this.name] = this.proto
  if this.by_name.subtype then
    by_subtype[this.by_name.subtype.usual] = this
  end
  function this.proto.dissector(tvb, pinfo, root)
    dissect(this, tvb, pinfo, root)
    return tvb:len()
  end
end

function experimental.dissector(tvb, pinfo, root)
  local this = tvb:len() > 0 and by_subtype[tvb(0, 1):bitfield(4, 4)]
  return this and this.proto.dissector(tvb, pinfo, root) or 0
end

-- EtherTypes ------------------------------------------------------------------------------------------------------------

-- Those that stations have to agree on are preferences.
local agreed = {
  smcc = { number = 0x88b5, text = "EtherType of SMCC's messages" },
  penstock_experimental = { number = 0x88b6, text = "EtherType of the other messages that have none" },
  cim = { number = 0, text = "One more EtherType of congestion isolation messages; 0: none" },
}
for name, entry in pairs(agreed) do
  local proto, used = protos[name], 0
  proto.prefs.ether_type = Pref.uint("EtherType", entry.number, entry.text)
  local function take()
    if used ~= 0 then
      ether_types:remove(used, proto)
      notification_types[used] = nil
    end
    used = proto.prefs.ether_type
    if used ~= 0 then
      ether_types:add(used, proto)
      notification_types[used] = name == "smcc" or nil
    end
  end
  proto.prefs_changed = take
  take()
end
for _, this in ipairs(FORMATS) do
  if not this.by_name.subtype and not agreed[this.name] then
    ether_types:add(this.message.ether_type, this.proto)
  end
end

function protos.cn_tag.init()
  last_tagged, last_notified, found, tag_flow = {}, {}, {}, nil
end

-- Fast CNP --------------------------------------------------------------------------------------------------------------

-- Wireshark reads the packet itself, and leaves the option as octets of an experiment.
local CNP, OPTION, ADDRESS = 0x81, 0x1e, 16
local fast_cnp = Proto("fast_cnp", "Fast CNP (Penstock)")
local original = ProtoField.ipv6("fast_cnp.original_destination", "Original Destination Address")
fast_cnp.fields = { original }
local option_of, opcode_of = Field.new("ipv6.opt.experimental"), Field.new("infiniband.bth.opcode")
local kinds_of = Field.new("ipv6.opt.type")

-- Whether an experiment is the option: its type is two octets before its content.
local function is_one(option)
  for _, kind in ipairs({ kinds_of() }) do
    if kind.offset == option.offset - 2 then
      return kind.value == OPTION and option.len == ADDRESS
    end
  end
  return false
end

function fast_cnp.dissector(_, pinfo, root)
  local option, opcode = option_of(), opcode_of()
  if option and opcode and opcode.value == CNP and is_one(option) then
    local tree = root:add(fast_cnp, option.range)
    tree:add(original, option.range)
    pinfo.cols.protocol = "Fast CNP"
    pinfo.cols.info:append(", flow to " .. tostring(option.range:ipv6()))
  end
end

register_postdissector(fast_cnp)

-- MRC --------------------------------------------------------------------------------------------------------------------

-- Wireshark knows the base transport header, and none of the opcodes of MRC.
local BTH_OCTETS, by_opcode = 12, {}
local mrc = Proto("mrc", "Multipath Reliable Connection (Penstock)")
for _, this in ipairs(MRC) do
  this.fields, this.experts = {}, {}
  for _, field in ipairs(this.list) do
    declare(this, field)
  end
  this.short = note(this, "length.illegal", "The frame ends within the header", "MALFORMED", "ERROR")
  this.proto = Proto(this.name, this.title .. " (Penstock)")
  this.proto.fields, this.proto.experts = this.fields, this.experts
  by_opcode[this.opcode] = this
end

function mrc.dissector(tvb, pinfo, root)
  local opcode = opcode_of()
  local this = opcode and by_opcode[opcode.value]
  if not this then
    return
  end
  local at = opcode.offset + BTH_OCTETS
  if at >= tvb:len() then
    return
  end
  local tree = root:add(this.proto, tvb(at, math.min(this.octets, tvb:len() - at)))
  pinfo.cols.protocol = "MRC"
  pinfo.cols.info:append(", " .. this.title)
  if tvb:len() < at + this.octets then
    tree:add_proto_expert_info(this.short)
    return
  end
  for _, field in ipairs(this.list) do
    tree:add(field.proto, tvb(at + field.at, field.octets))
  end
end

register_postdissector(mrc)
