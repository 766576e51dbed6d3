"""Fields of a configuration that an axis of a map may have. Nothing heavy is imported here: the shell reads them."""

FIELDS = {
    "flows": "count",
    "capacity_bps": "bit/s",
    "link_bps": "bit/s",
    "frame_octets": "octets",
    "buffer_octets": "octets",
    "line_rate_bps": "bit/s",
    "forward_delay_s": "s",
    "feedback_delay_s": "s",
    "round_trip_s": "s",
}
"""Fields of a configuration that an axis may have, with their units; ``round_trip_s`` moves both delays."""
