"""Radio media, and nodes that are on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightlag._renamed import former_keywords
from lightlag.scenario.values import Model, Rate, RoutingProtocol, Size, Time


@former_keywords()
@dataclass(frozen=True, kw_only=True)
class Radio:
    """A radio: its power, its receiver and its MAC. Omitted keys of a medium have the defaults of ns-3.37; omitted keys
    of a node have the values of its medium.
    """

    power: str | None = None
    """Transmit power: a power such as "16 dBm". Default: ``"16.0206 dBm"``."""
    gain: str | None = None
    """Antenna gain, for transmission and reception: a ratio such as "15 dB". Default: ``"0 dB"``."""
    noise_figure: str | None = None
    """Noise figure of the receiver: a ratio such as "15 dB". Default: ``"7 dB"``."""
    sensitivity: str | None = None
    """Weakest signal that the receiver can notice: a power such as "16 dBm". Default: ``"-101 dBm"``."""
    detection: str | None = None
    """Weakest preamble that the receiver detects: a power such as "16 dBm". Default: ``"-82 dBm"``."""
    detection_snr: str | None = None
    """Minimum ratio of signal to interference and noise for a preamble: a ratio such as "15 dB". Default: ``"4
    dB"``."""
    carrier_sense: str | None = None
    """Minimum power of frames, decodable or not, that makes the medium busy: a power such as "16 dBm". Default: ``"-82
    dBm"``."""
    energy_detection: str | None = None
    """Minimum energy of any kind that makes the medium busy: a power such as "16 dBm". Default: ``"-62 dBm"``."""
    capture: bool | None = None
    """Whether a much stronger frame replaces one that has just started. Default: False."""
    capture_margin: str | None = None
    """Minimum margin of the stronger frame for ``capture``: a ratio such as "15 dB". Default: ``"5 dB"``."""
    rate: str | None = None
    """Data rate, ``"24 Mbit/s"`` or ``"HtMcs7"``: a rate. Default: ``"24 Mbit/s"``."""
    rate_control: Model | None = None
    """Choice of the data rate, ``"minstrel-ht"`` or with its parameters ``{"algorithm": "arf", "successes": 5}``; fixed
    by default."""
    broadcast_rate: str | None = None
    """Rate of broadcasts: a rate. Default: ``"6 Mbit/s"``."""
    max_attempts: int | None = None
    """Maximum number of transmissions of a frame before it is dropped. From 1 to 255. Default: 7."""
    rts_threshold: int | None = None
    """Maximum size in bytes of a frame without RTS and CTS. From 1 to 65,535. Default: 65,535."""
    aggregation: float | None = None
    """Maximum size of an A-MPDU in bytes; 0 for none. From 0 to 65,535. Default: 65,535."""
    missing_block_ack: Literal["ask", "repeat"] | None = None
    """Reaction to a missing block acknowledgement: request it (ask), or retransmit the frames (repeat).
    Default: ``"ask"``."""
    block_ack_agreement: Literal["aggregates", "ns3"] | None = None
    """Block acknowledgement agreements: in place from the start where packets can be aggregated, or negotiated at every
    rate (as in ns-3, with 802.11n and 802.11ac). Default: ``"aggregates"``."""
    access_class: Literal["best-effort", "background", "video", "voice"] | None = None
    """Access class of flows without a code point, if the medium has classes. Default: ``"best-effort"``."""
    edca: Mapping[str, Mapping[str, Any]] | None = None
    """Parameters of access classes that differ from the standard, ``{"voice": {"cw_min": 3, "cw_max": 7}}``; also
    ``aifsn`` and ``txop``."""
    queue: int | None = None
    """Maximum number of waiting frames. From 1 to 1,000,000. Default: 500."""
    lifetime: Time | None = None
    """Maximum waiting time of a frame. Default: ``"500 ms"``."""


@former_keywords()
@dataclass(frozen=True, kw_only=True)
class Medium(Radio):
    """A medium that nodes share: a radio channel, the radios on it where a node specifies nothing else, and the routing
    of their nodes; or a satellite beam.
    """

    name: str | None = None
    """Name of the medium. Default: ``"air"``."""
    kind: Literal["wifi", "rcs2", "random_access"] | None = None
    """Kind of the medium: wifi is a channel of 802.11, rcs2 the return link of a satellite beam, random_access sensors
    that send to a satellite without coordination. Default: ``"wifi"``."""
    standard: Literal["802.11a", "802.11g", "802.11n", "802.11ac"] | None = None
    """Amendment of 802.11. Default: ``"802.11n"``."""
    frequency: str | None = None
    """Centre frequency: a frequency such as "5.18 GHz" (Hz, kHz, MHz, GHz). Default: ``"5.18 GHz"``."""
    width: Literal["20 MHz", "40 MHz", "80 MHz"] | None = None
    """Width of the channel. Default: ``"20 MHz"``."""
    guard: Literal["long", "short", "short-unrounded"] | None = None
    """Guard interval of 802.11n and 802.11ac. Default: ``"long"``."""
    streams: int | None = None
    """Spatial streams of 802.11n and 802.11ac. From 1 to 4. Default: 1."""
    errors: Literal["nist", "yans", "table-bcc", "table-ldpc"] | None = None
    """Error model. Default: ``"nist"``."""
    propagation: Model | None = None
    """Path loss over the distance; by default log-distance with an exponent of 3."""
    fading: Model | None = None
    """Fading from frame to frame; by default none."""
    shadowing: Mapping[str, Any] | None = None
    """Losses that differ from pair to pair, ``{"deviation": "4 dB", "epoch": "1 s"}``: a normal deviation in dB, drawn
    for each pair of stations and each epoch; a random line of sight also holds for one epoch (Rappaport 1996)."""
    routing: RoutingProtocol | None = None
    """Routing protocol, ``"aodv"``, which is the default, or with its parameters
    ``{"protocol": "olsr", "hello_interval": "1 s"}``; or a custom router."""
    arp: Literal["off", "ns3"] | None = None
    """Address resolution: none (nodes know the addresses), or as in ns-3. Default: ``"off"``."""
    elfn: bool | None = None
    """Explicit link failure notification: whether TCP senders are notified when their route breaks, and wait for a
    route exists again; needs AODV. Default: False."""
    access_attempts: int | None = None
    """Number of transmissions by random access before a packet is dropped. From 1 to 100. Default: 8."""
    access_backoff: int | None = None
    """Maximum backoff after a first loss in superframes; it doubles with each further loss. From 1 to 10,000.
    Default: 8."""
    acknowledged: bool | None = None
    """Whether the gateway acknowledges packets, and sensors retransmit what is not acknowledged. Default: False."""
    burst_overhead: int | None = None
    """Bytes that the physical layer adds to a packet. From 0 to 10,000. Default: 0."""
    burst_rate: Rate | None = None
    """Rate of a burst; LoRa's follows from its spreading factor. Default: ``"1 Mbit/s"``."""
    capture_threshold: float | None = None
    """Minimum ratio of a burst's power to the power of bursts that overlap it, for decoding it. LoRa's default is 6 dB;
    without a threshold, bursts that overlap are lost. From 0 to 60."""
    carriers: int | None = None
    """Number of carriers of the return link. From 1 to 10,000. Default: 4."""
    channels: int | None = None
    """Number of frequency channels. Each burst uses a random one, and its replicas share it. From 1 to 10,000.
    Default: 1."""
    constant: Rate | None = None
    """Rate assigned without a request (CRA), rounded up to full slots per superframe."""
    contention: Literal["crdsa-2", "crdsa-3", "slotted-aloha"] | None = None
    """Random access: slotted ALOHA, or CRDSA with two or three replicas and cancellation of interference.
    Default: ``"crdsa-2"``."""
    contention_data: bool | None = None
    """Whether packets that fit into one burst are sent by random access instead of a request. Default: False."""
    contention_slots: int | None = None
    """Slots per superframe for random access, on the first carriers. From 0 to 1,000,000. Default: 20."""
    control_period: int | None = None
    """Number of superframes from one slot for requests of a terminal to the next; 0 for none. From 0 to 100,000.
    Default: 0."""
    cross_threshold: str | None = None
    """Minimum ratio of powers by which a burst destroys a weaker one with another spreading factor: a ratio such as "15
    dB". Default: ``"16 dB"``."""
    delay: Time | None = None
    """Propagation delay between a terminal or a sensor and the gateway. Default: ``"130 ms"``."""
    forward_queue: int | None = None
    """Maximum number of packets that wait for the forward carrier. From 1 to 10,000,000. Default: 1,000."""
    forward_rate: Rate | None = None
    """Rate of the forward carrier, from the gateway to the other stations. Default: ``"20 Mbit/s"``."""
    frame: Time | None = None
    """Duration of a superframe, for which slots are assigned together. Default: ``"26.5 ms"``."""
    frame_slots: int | None = None
    """Number of slots per frame of CRDSA. From 1 to 100,000. Default: 100."""
    free: bool | None = None
    """Whether the terminal receives a part of the slots that no terminal requested (FCA). Default: False."""
    gateway: str | None = None
    """Node that is the gateway of a satellite beam; by default the first one. For the kinds rcs2 and random_access."""
    logon: bool | None = None
    """Whether terminals are logged off at the start, and log on when they have a packet. Default: False."""
    logon_exchanges: int | None = None
    """Number of exchanges with the NCC of a logon; the first one uses random access. From 1 to 10. Default: 2."""
    lora_bandwidth: str | None = None
    """Bandwidth of a LoRa channel: a frequency such as "5.18 GHz" (Hz, kHz, MHz, GHz). Default: ``"125 kHz"``."""
    lora_coding: int | None = None
    """Code rate 4/(4 + n) of LoRa. Default: 1."""
    lora_preamble: int | None = None
    """Preamble of LoRa, without the 4.25 symbols that the modem adds. From 1 to 65,535. Default: 8."""
    power_spread: str | None = None
    """Standard deviation of the received power of bursts: a ratio such as "15 dB". Default: ``"0 dB"``."""
    rate_based: Rate | None = None
    """Maximum rate that the terminal requests by rate (RBDC); by default it does not request rates."""
    rate_timeout: Time | None = None
    """Lifetime of a requested rate, and time for which a terminal receives free capacity after a burst. Default: ``"1
    s"``."""
    request_size: Size | None = None
    """Size of a capacity request in a burst with data. Default: ``"4 B"``."""
    retry_backoff: Time | None = None
    """Maximum backoff after a first loss; it doubles with each further loss. Default: ``"2 s"``."""
    scheduling_delay: Time | None = None
    """Time that the NCC takes from the last request that an assignment considers until it is sent. Default: ``"0
    s"``."""
    sensor_queue: int | None = None
    """Maximum number of packets that wait at a sensor. From 1 to 1,000,000. Default: 16."""
    sic_iterations: int | None = None
    """Maximum number of iterations that cancel interference. From 1 to 1,000. Default: 16."""
    slot_guard: Time | None = None
    """Time at the end of each slot in which no terminal sends. Default: ``"0 s"``."""
    slot_payload: Size | None = None
    """Payload of a burst, which depends on modulation and coding: 188 B is QPSK 1/2 of the long burst. Default: ``"188
    B"``."""
    slot_size: Size | None = None
    """Maximum size of a packet that fits into a slot. Default: ``"100 B"``."""
    slots: int | None = None
    """Number of slots per carrier and superframe. From 1 to 10,000. Default: 40."""
    spreading_max: int | None = None
    """Maximum spreading factor of LoRa. From 1 to 12. Default: 12."""
    spreading_min: int | None = None
    """Minimum and maximum spreading factor of LoRa; each sensor has a random one between them. From 1 to 12.
    Default: 7."""
    technique: Literal["aloha", "slotted-aloha", "crdsa-2", "crdsa-3", "lora", "nb-iot"] | None = None
    """Random access: pure or slotted ALOHA, CRDSA with two or three replicas, LoRa, or NB-IoT. Default: ``"aloha"``."""
    terminal_queue: int | None = None
    """Maximum number of packets that wait at the terminal. From 1 to 10,000,000. Default: 200."""
    transmit_power: str | None = None
    """Transmit power of a sensor, for its energy: a power such as "16 dBm". Default: ``"14 dBm"``."""
    volume_based: bool | None = None
    """Whether the terminal requests slots for its waiting data (VBDC). Default: True."""
    block_error: float | None = None
    """Probability that a transmission of an NB-IoT transport block is not decoded. Default: 0."""
    contention_timer: Time | None = None
    """Time to wait for a response, in addition to the round trip, before a sensor starts again. Default: ``"640
    ms"``."""
    coverage: tuple[tuple[float, float, float, float], ...] | None = None
    """Coverage classes of NB-IoT: fraction of the sensors, subcarriers for preambles, repetitions of the preamble,
    repetitions of data."""
    data_carriers: int | None = None
    """Number of carriers of 180 kHz for data of NB-IoT. From 1 to 1,000. Default: 1."""
    grant_delay: Time | None = None
    """Time from the reception of an NB-IoT grant to the transmission. Default: ``"12 ms"``."""
    harq: bool | None = None
    """Whether each transport block of NB-IoT is acknowledged before the next one (HARQ). Default: True."""
    harq_transmissions: int | None = None
    """Maximum number of transmissions of an NB-IoT transport block with HARQ. From 1 to 28. Default: 4."""
    nprach_format: int | None = None
    """Format of NB-IoT preambles: 0 with 5.6 ms, or 1 with 6.4 ms. Default: 1."""
    nprach_period: Time | None = None
    """Time between two opportunities to send a preamble of NB-IoT. Default: ``"640 ms"``."""
    pass_backoff: Time | None = None
    """Time after the start of a pass over which sensors spread the packets that waited for it. Default: ``"60 s"``."""
    passes: Mapping[str, Any] | None = None
    """Times when the satellite is visible; by default always. Outside passes sensors store their packets, and the
    gateway stores the packets of the forward carrier."""
    response_delay: Time | None = None
    """Time from the end of an NB-IoT transmission at the gateway to the end of its response, which has the next grant.
    Default: ``"20 ms"``."""
    spacing: Literal["15 kHz", "3.75 kHz"] | None = None
    """Spacing of the subcarriers for data of NB-IoT. Default: ``"15 kHz"``."""
    tbs_index: int | None = None
    """Index I_TBS of the size of NB-IoT transport blocks; up to 10 with one tone. From 0 to 12. Default: 4."""
    tones: int | None = None
    """Number of subcarriers (tones) of a transmission of NB-IoT data: 1, 3, 6 or 12; 1 with 3.75 kHz. Default: 1."""
    acm_delay: Time | None = None
    """Delay from a measurement to the burst whose waveform it determines."""
    acm_hysteresis: str | None = None
    """Additional margin that is required for a higher waveform than the current one: a ratio such as "15 dB".
    Default: ``"0.3 dB"``."""
    acm_margin: str | None = None
    """Required margin above the threshold of a waveform: a ratio such as "15 dB". Default: ``"1 dB"``."""
    acm_step: Time | None = None
    """Time between two values of the attenuation. Default: ``"1 s"``."""
    adaptive: bool | None = None
    """Whether the waveform of the terminal follows its weather; slot_payload then applies to its constant capacity
    only. Default: False."""
    clear_sky: str | None = None
    """Es/N0 of the terminal's bursts without rain: a ratio such as "15 dB". Default: ``"12 dB"``."""
    rain_correlation: Time | None = None
    """Time until the autocorrelation of ln A has fallen to 1/e. Default: ``"5000 s"``."""
    rain_deviation: float | None = None
    """Standard deviation of ln A, where A is the attenuation in dB. From 0 to 10. Default: 1.2."""
    rain_median: str | None = None
    """Median of the attenuation by rain in the time of the run; ln A is an Ornstein-Uhlenbeck process: a ratio such as
    "15 dB". Default: ``"0 dB"``."""
    rain_offset: str | None = None
    """Part of the attenuation that is subtracted: no rain below it: a ratio such as "15 dB". Default: ``"0 dB"``."""
    rate_period: Time | None = None
    """Period of the requests of a rate, which are sent with the first burst of a period; by default they are a round
    trip apart."""
    rate_spread: Time | None = None
    """Time in which a requested rate sends the data that waits; by default a round trip."""
    burst_loss: float | None = None
    """Probability that a burst in an assigned slot is lost, independently of the weather. Default: 0."""
    resequencing: int | None = None
    """Number of bursts of a terminal that the gateway keeps after a lost one, in case that one is only late; 0 for
    none. From 0 to 1,000. Default: 0."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node with one or several radios. Nodes without radios need no such table."""

    name: str
    """Name, as used by links and flows."""
    media: tuple[str, ...] | None = None
    """Media of the node's radios; may be omitted if there is only one medium."""
    at: Sequence[str] | None = None
    """Initial position as coordinates to the east, to the north and up: ``["10 m", "0 m", "1.5 m"]``. A node of a
    satellite beam needs none."""
    area: Sequence[str] | None = None
    """Box in which the node moves, with a corner at the origin; by default the box of the swarm, if there is one."""
    mobility: Model | None = None
    """Mobility model, ``{"model": "random-waypoint"}``; by default the node does not move."""
    radio: Radio | Mapping[str, Any] | None = None
    """Settings of the node's radios that override the settings of their media."""
    terminal: Mapping[str, Any] | None = None
    """Settings of the node's terminal that override the settings of its medium, which is of the kind ``rcs2``."""
