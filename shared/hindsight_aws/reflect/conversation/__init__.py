"""Tells what a model said and was shown, from the steps of its run.  Pure; called by every other room of reflect.

`calls` read what was said with a tool; `transcript` tells the steps again through `presentation`, under `aliases`;
`evidence` is what was found, `claims` part it, `blanking` shortens what outgrew its room.
"""
