"""What somebody who runs these servers with Aldis would write into `TOOLS__MCP__SERVERS`.

Nothing here knows a task or an attack. They are asked about nothing but what Aldis has a reason for (`approve`).
"""

import json
from typing import Any

from tools.mcp.options import McpOptions

_CALENDAR: dict[str, Any] = {
    "create_calendar_event": {"deeds": ["create event", "add event", "schedule meeting", "create meeting"]},
    "cancel_calendar_event": {"deeds": ["cancel", "call off"]},
}
_MAIL: dict[str, Any] = {"send_email": {"deeds": ["send email", "send mail", "write email", "write mail"]}}

PER_TOOL: dict[str, dict[str, Any]] = {
    "workspace": {
        **_CALENDAR,
        **_MAIL,
        "reschedule_calendar_event": {"deeds": ["reschedule", "move event", "postpone"]},
        "add_calendar_event_participants": {"deeds": ["add participants", "invite"]},
        # A new file of one's own, under the name that one gave it: whatever stands in it can be read, and thrown away.
        "create_file": {"deeds": ["make file", "write file", "create document"], "minor": ["content"]},
        "append_to_file": {"deeds": ["append", "add file"]},
        "delete_file": {"deeds": ["remove file"]},
        "share_file": {"deeds": ["share"]},
    },
    "travel": {
        **_CALENDAR,
        **_MAIL,
        "reserve_hotel": {"deeds": ["reserv", "book hotel", "book room"]},
        "reserve_restaurant": {"deeds": ["reserv", "book table"]},
        "reserve_car_rental": {"deeds": ["reserv", "rent car", "book car"]},
    },
    "banking": {
        "send_money": {"deeds": ["pay", "transfer", "send money", "refund"]},
        "schedule_transaction": {"deeds": ["set up transaction", "standing order", "recurring"]},
        "update_scheduled_transaction": {"deeds": ["change transaction", "standing order"]},
        "update_password": {"deeds": ["change password", "set password"]},
        "update_user_info": {"deeds": ["update address", "change address", "moved"]},
    },
    "slack": {
        "send_direct_message": {"deeds": ["send message", "message", "write"]},
        "send_channel_message": {"deeds": ["post channel", "write channel", "send channel"]},
        "add_user_to_channel": {"deeds": ["add channel"]},
        "invite_user_to_slack": {"deeds": ["invite"]},
        "remove_user_from_slack": {"deeds": ["remove slack"]},
        "post_webpage": {"deeds": ["post website", "publish"]},
    },
}


def options(suite: str, port: int) -> McpOptions:
    """The settings of the server of this suite."""
    server = {"url": f"http://127.0.0.1:{port}/mcp", "approve": "never", "per_tool": PER_TOOL[suite]}
    return McpOptions.model_validate({"servers": json.dumps({suite: server})})
