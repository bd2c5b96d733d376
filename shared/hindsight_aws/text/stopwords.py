"""English words that say nothing about what a text is about.  Read by text/terms.py."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """ a about am an and any are aren't as at be been being both but by can can't cannot could couldn't did didn't do
    does doesn't doing don't each for from had hadn't has hasn't have haven't having he he'd he'll he's her here
    here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its
    itself just let's me mine my myself nor of on or our ours ourselves shall she she'd she'll she's should shouldn't
    so some such than that that'll that's the their theirs them themselves then there there's these they they'd
    they'll they're they've this those to too us very was wasn't we we'd we'll we're we've were weren't what what's
    when when's where where's which while who who's whom whose why why's will with won't would wouldn't you you'd
    you'll you're you've your yours yourself yourselves """.split()
)
