"""What an operator of these servers would write into `TOOLS__MCP__SERVERS`.

Nothing here knows a task or an attack. People are only asked when Aldis has a reason to (`approve`).
"""

import json
from typing import Any

from tools.mcp.options import McpOptions

_EVENTS = {"records": {"kind": "event", "key": "id_", "named_by": ["title"]}}
_FILES = {"records": {"kind": "file", "key": "id_", "named_by": ["filename"]}}
_CONTACTS = {"records": {"kind": "contact", "key": "email", "named_by": ["name"]}}
_SHOP = {"answers": "catalogue"}  # what the agency itself says of those whom it books
_CALENDAR: dict[str, Any] = {
    "search_calendar_events": _EVENTS,
    "get_day_calendar_events": _EVENTS,
    "get_current_day": {"answers": "names"},
    "create_calendar_event": {
        "deeds": ["create event", "add event", "schedule meeting", "create meeting", "add calendar"],
        # An entry of one's own that nobody else sees, under the title that one gave it: it can be looked at, and taken
        # out again.
        "minor": ["description", "location", "start_time", "end_time"],
        "shown_by": ["participants"],
        "takes": {"participants": ["event.participants", "contact.email"]},
        "fills": ["title"],
    },
    "cancel_calendar_event": {"deeds": ["cancel", "call off"], "takes": {"event_id": ["event"]}},
}
_MAIL: dict[str, Any] = {
    "send_email": {
        "deeds": ["send email", "send mail", "write email", "write mail"],
        "takes": {"recipients": ["contact.email"]},
        "fills": ["subject", "body"],
    },
    "search_contacts_by_name": _CONTACTS,
    "search_contacts_by_email": _CONTACTS,
}

PER_TOOL: dict[str, dict[str, Any]] = {
    "workspace": {
        **_CALENDAR,
        **_MAIL,
        "reschedule_calendar_event": {
            "deeds": ["reschedule", "move event", "postpone"],
            "takes": {"event_id": ["event"]},
        },
        "add_calendar_event_participants": {
            "deeds": ["add participants", "invite"],
            "takes": {"event_id": ["event"], "participants": ["event.participants", "contact.email"]},
        },
        "search_files": _FILES,
        "search_files_by_filename": _FILES,
        "list_files": _FILES,
        # A new file of one's own, under the name that one gave it: whatever stands in it can be read, and thrown away.
        "create_file": {"deeds": ["make file", "write file", "create document"], "minor": ["content"]},
        "append_to_file": {"deeds": ["append", "add file"], "takes": {"file_id": ["file"]}},
        "delete_file": {"deeds": ["remove file"], "takes": {"file_id": ["file"]}},
        "share_file": {"deeds": ["share"], "takes": {"file_id": ["file"]}},
    },
    "travel": {
        **_CALENDAR,
        **_MAIL,
        "get_all_hotels_in_city": _SHOP,
        "get_hotels_prices": _SHOP,
        "get_hotels_address": _SHOP,
        "get_all_restaurants_in_city": _SHOP,
        "get_cuisine_type_for_restaurants": _SHOP,
        "get_dietary_restrictions_for_all_restaurants": _SHOP,
        "get_price_for_restaurants": _SHOP,
        "get_restaurants_address": _SHOP,
        "get_contact_information_for_restaurants": _SHOP,
        "check_restaurant_opening_hours": _SHOP,
        "get_all_car_rental_companies_in_city": _SHOP,
        "get_car_types_available": _SHOP,
        "get_car_fuel_options": _SHOP,
        "get_car_rental_address": _SHOP,
        "get_car_price_per_day": _SHOP,
        "get_flight_information": _SHOP,
        "get_user_information": {"answers": "own"},
        "reserve_hotel": {"deeds": ["reserv", "book hotel", "book room"]},
        "reserve_restaurant": {"deeds": ["reserv", "book table"]},
        "reserve_car_rental": {"deeds": ["reserv", "rent car", "book car"]},
    },
    "banking": {
        "get_balance": {"answers": "names"},
        "get_iban": {"answers": "names"},
        "get_user_info": {"answers": "own"},
        # Standing orders are made by the person alone.
        "get_scheduled_transactions": {
            "answers": "own",
            "records": {"kind": "order", "key": "id", "named_by": ["subject"]},
        },
        "send_money": {"deeds": ["pay", "transfer", "send money", "refund"]},
        "schedule_transaction": {"deeds": ["set up transaction", "standing order", "recurring"]},
        "update_scheduled_transaction": {
            "deeds": ["change transaction", "standing order"],
            "takes": {"id": ["order"]},
        },
        "update_password": {"deeds": ["change password", "set password"]},
        "update_user_info": {"deeds": ["update address", "change address", "moved"]},
    },
    "slack": {
        # Who may call a channel or a member what they like could write an order there, but not in one word.
        "get_channels": {"answers": "names", "records": {"kind": "channel"}},
        "get_users_in_channel": {"answers": "names", "records": {"kind": "member"}},
        "send_direct_message": {"deeds": ["send message", "message", "write"], "takes": {"recipient": ["member"]}},
        "send_channel_message": {
            "deeds": ["post channel", "write channel", "send channel"],
            "takes": {"channel": ["channel"]},
        },
        "add_user_to_channel": {
            "deeds": ["add channel"],
            "takes": {"user": ["member"], "channel": ["channel"]},
            "answers": "names",
        },
        "invite_user_to_slack": {"deeds": ["invite"]},
        "remove_user_from_slack": {"deeds": ["remove slack"], "takes": {"user": ["member"]}},
        "post_webpage": {"deeds": ["post website", "publish"]},
    },
}


def options(suite: str, port: int) -> McpOptions:
    """The settings of the server of this suite."""
    server = {"url": f"http://127.0.0.1:{port}/mcp", "approve": "never", "per_tool": PER_TOOL[suite]}
    return McpOptions.model_validate({"servers": json.dumps({suite: server})})
