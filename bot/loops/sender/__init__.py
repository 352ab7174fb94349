"""What stands in the outbox is sent, and *sent*, *not sent* and *unknown* are told apart."""
