import matplotlib.pyplot as plt

import lightlag as ll

# Messages of 100 B with headers at 128 kbit/s: 160 slots per second. A sensor sends one per minute.
SENSORS = {
    "slotted-aloha": [200, 450, 600, 1000, 2000, 3000, 4500],
    "crdsa-2": [500, 2000, 3000, 4000, 4500, 5000, 6000, 7500],
    "crdsa-3": [500, 2000, 4000, 5000, 5500, 6000, 6500, 7500],
}
MESSAGES = {"kind": "poisson", "size": "72 B", "every": "60 s"}


def run(technique, sensors, acknowledged):
    medium = {"kind": "random_access", "technique": technique, "burst_rate": "128 kbit/s", "delay": "4 ms"}
    topology = {
        "kind": "swarm",
        "nodes": sensors + 1,
        "medium": medium | {"acknowledged": acknowledged},
        "flow": {"transport": "udp", "traffic": MESSAGES},
    }
    result = ll.run({"duration": "10 min", "topology": topology, "record": {"trace": "off"}}, seed=1)
    result.save(f"results/{technique}-{sensors}" + "-acknowledged" * acknowledged, force=True)
    received, delay = (result.flows[f"datagrams_{name}"].fill_null(0) for name in ("received", "mean_delay_s"))
    return 100 * received.sum() / result.flows["sent_segments"].sum(), (received * delay).sum() / received.sum()


figure, (once, again) = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
for (technique, counts), line in zip(SENSORS.items(), ["^:", "o-", "s--"], strict=True):
    once.plot(counts, [run(technique, count, False)[0] for count in counts], line, label=technique)
    again.plot(counts, [run(technique, count, True)[1] for count in counts], line, label=technique)
once.set(xlabel="sensors", ylabel="messages delivered (%)", title="each message sent once", ylim=(0, 102))
again.set(xlabel="sensors", ylabel="mean delay (s)", title="up to 8 transmissions", yscale="log")
once.legend(frameon=False)
figure.savefig("crdsa-sensors.png", dpi=200)
