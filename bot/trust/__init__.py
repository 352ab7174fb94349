"""What may be done with what strangers wrote: labels, rules, links and secrets."""
