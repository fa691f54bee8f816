import matplotlib.pyplot as plt

import lightlag as ll

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for name, style in [("mars", "-"), ("scps-mars", "--")]:
    result = ll.run(name, seed=1)
    result.save(f"results/{name}", force=True)
    trace = result.trace("goodput")
    axes.plot(trace["time_s"] / 60, trace["delivered_bytes"] / 1e6, style, label=name)
axes.set(xlabel="time (min)", ylabel="delivered (MB)", title="5 MB to Mars, 0.5 au away")
axes.legend(frameon=False)
figure.savefig("mars.png", dpi=200)
