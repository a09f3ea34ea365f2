//! Which phrasings are direct requests, and which only look like one.
