import matplotlib.pyplot as plt

import lightlag as ll

losses = [0.0, 1e-3, 1e-2]
figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for loss, style in zip(losses, ("-", "--", ":"), strict=True):
    result = ll.run("satellite-iot", seed=1, sets={"topology.loss": loss})
    result.save(f"results/loss-{loss:g}", force=True)
    slowest = result.flows["messages_mean_delay_s"].drop_nulls().sort() * 1e3
    axes.step(slowest, range(1, len(slowest) + 1), style, label=f"loss {loss:g}", where="post")
axes.set(xlabel="mean delay of the messages of a sink (ms)", ylabel="sinks", title="20 sinks of 50 sensors")
axes.legend(frameon=False)
figure.savefig("iot.png", dpi=200)
