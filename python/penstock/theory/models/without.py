"""The schemes that have no fluid model, and why."""

WITHOUT = {
    "none": "it changes no rate",
    "e2cm": "it is a reconstruction: no publication has its constants or equations to hold a model to",
    "qcn-multicast": "a source remembers the largest |Fb|, and queues below it are silent: its law is of extremes",
    "qcn-bs-adaptive": "at one bottleneck it is qcn-adaptive, which has one",
    "fqcn": "differences between the flows' rates decide who gets a message, and a model has flows that are alike",
    "homa": "destinations grant a constant number of octets, by the size of messages: there is no law",
    "ndp": "windows are constant, and pulls of the destination replace a law: a queue is eight frames and headers",
    "ci": "it moves flows to another queue, and changes no rate",
    "sfc": "it stops sources by pauses, and changes no rate",
}
"""A clause for each of them: what its law lacks."""
