/**
 * Results of a run, as the engine's data dictionary declares them.
 *
 * `make mirrors` writes this file. The declarations of the columns are in `crates/lightlag-sim/src/results.rs`.
 */

/**
 * The result of one flow. If proxies split the flow, the segment counters, round-trip times, window and limits describe
 * its first sender; `LegSummary` describes each sender.
 */
export interface FlowSummary {
  /** Name of the flow. */
  name: string;
  /** Sending node. */
  from: string;
  /** Receiving node. */
  to: string;
  /** Congestion-control algorithm; `udp` for UDP flows. */
  congestion: string;
  /** Name of the slowest link direction on the flow's path, by the rates at the start; null for datagrams. */
  bottleneck: string | null;
  /** Time when the connection was opened (s). */
  start_s: number;
  /** Arrival time of the last byte; null if it did not arrive (s). */
  finish_s: number | null;
  /** Reason why the connection was aborted before the transfer was complete; omitted otherwise. */
  failure?: string;
  /** Payload delivered in order to the receiving application, excluding holes (B). */
  delivered_bytes: number;
  /** Delivered payload in bits, divided by the time from start to finish, or to the end of the run (bit/s). */
  goodput_bps: number;
  /** Segments sent with payload, including retransmissions; for UDP, datagrams sent. */
  sent_segments: number;
  /** Retransmitted segments with payload. */
  retransmitted_segments: number;
  /** Expirations of the retransmission timer. */
  timeouts: number;
  /** Number of times that fast recovery was entered. */
  recoveries: number;
  /** ACKs that the sender received while data was outstanding, including duplicates. */
  acks_received: number;
  /** Smallest round-trip sample; null without a sample (s). */
  min_rtt_s: number | null;
  /** Mean of the round-trip samples; null without a sample (s). */
  mean_rtt_s: number | null;
  /** Mean congestion window in segments, from the establishment of the connection until the finish. */
  mean_cwnd_segments: number;
  limited_s: {
    /** Time limited by the congestion window (s). */
    cwnd: number;
    /** Time limited by the receiver's window; for QUIC, by credit. */
    rwnd: number;
    /** Time limited by the application, which had nothing to send; includes opening and closing the connection (s). */
    application: number;
    /** Time limited by pacing (s). */
    pacing: number;
    /** Time spent on repairs in fast recovery (s). */
    recovery: number;
    /** Time spent waiting for a timeout, and on repairs after one (s). */
    timeout: number;
  };
  quic_limited_s?: {
    /** Time spent waiting for keys or messages of the handshake, except timeouts (s). */
    handshake: number;
    /**
     * Time limited by the anti-amplification limit: three times the bytes received from a client whose address is not
     * validated (s).
     */
    amplification: number;
    /** Time in which the peer had requests, and waited for permission to open streams (MAX_STREAMS) (s). */
    stream_limit: number;
    /** Time limited by the credit of the connection (MAX_DATA) (s). */
    connection_credit: number;
    /** Time limited by the credit of streams (MAX_STREAM_DATA) (s). */
    stream_credit: number;
    /** Time limited by the send buffer (s). */
    send_buffer: number;
    /** Time without data to send or in flight (s). */
    idle: number;
  };
  datagrams?: {
    /** Datagrams that arrived. */
    received: number;
    /** Datagrams dropped in transit. */
    lost: number;
    /** Mean time from sending to arrival; null if none arrived (s). */
    mean_delay_s: number | null;
    /** 95th percentile of these times, with an error of up to 0.2 %; null if none arrived (s). */
    p95_delay_s: number | null;
  };
  responses?: {
    /** Responses or pages that arrived completely. */
    count: number;
    /** Mean time from the request to the arrival of the last byte; null if none arrived (s). */
    mean_s: number | null;
    /** Mean time from the request to the arrival of the first byte; null if none arrived (s). */
    mean_first_byte_s: number | null;
    /**
     * Mean ByteIndex: the integral over time of the fraction of the bytes that has not arrived; null if none arrived
     * (s).
     */
    mean_byte_index_s: number | null;
    /** 95th percentile of these times (nearest rank); null if none arrived (s). */
    p95_s: number | null;
    /** Total size of the requests (B). */
    request_bytes: number;
  };
  pages?: {
    /** Responses or pages that arrived completely. */
    count: number;
    /** Mean time from the request to the arrival of the last byte; null if none arrived (s). */
    mean_s: number | null;
    /** Mean time from the request to the arrival of the first byte; null if none arrived (s). */
    mean_first_byte_s: number | null;
    /**
     * Mean ByteIndex: the integral over time of the fraction of the bytes that has not arrived; null if none arrived
     * (s).
     */
    mean_byte_index_s: number | null;
    /** 95th percentile of these times (nearest rank); null if none arrived (s). */
    p95_s: number | null;
    /** Total size of the requests (B). */
    request_bytes: number;
  };
  messages?: {
    /** Messages sent to the sink. */
    sent: number;
    /** Messages lost in transit to the sink. */
    lost: number;
    /** Messages that reached the sink but did not fit into its buffer. */
    dropped: number;
    /** Messages delivered in order at the far end of the sink's connection. */
    delivered: number;
    /** Mean time from sending by the sensor to delivery; null if no message was delivered (s). */
    mean_delay_s: number | null;
    /** 95th percentile of these times, with an error of up to 0.2 %; null if no message was delivered (s). */
    p95_delay_s: number | null;
  };
  store?: {
    /** Stored messages that were dropped for newer ones; the dropped messages of the sink include them. */
    dropped_oldest: number;
    /** Messages at the end of the run that were stored, or that the receiver had not received completely. */
    waiting: number;
    /** Maximum number of bytes in the memory, including those that the receiver had not acknowledged (B). */
    max_bytes: number;
    /** Delivered messages divided by messages sent; null if none was sent. */
    delivered_fraction: number | null;
    /**
     * Median of the times from sending by the sensor to delivery, with an error of up to 0.2 %; null if no message was
     * delivered (s).
     */
    median_delay_s: number | null;
    /** 99th percentile of these times (s). */
    p99_delay_s: number | null;
  };
  signals?: {
    /** Notifications sent to an endpoint of the flow. */
    sent: number;
    /** Notifications that arrived at an endpoint of the flow and were acted on. */
    received: number;
    /** Notifications about links that arrived at an endpoint that did not negotiate SCPS-TP. */
    ignored: number;
    /** Notifications dropped in transit. */
    lost: number;
    /** Notifications that an endpoint's own node gave to it directly, without a message, and that it acted on. */
    local: number;
  };
  holes?: {
    /** Holes that the receiver skipped. */
    count: number;
    /** Total size of these holes in bytes (B). */
    bytes: number;
    /** Bytes that the sender abandoned. Some of them may have arrived (B). */
    given_up_bytes: number;
  };
}

/** Load and losses of a link direction. */
export interface LinkSummary {
  /** Name of the direction: `from->to`. */
  name: string;
  /** Node at the start of the direction. */
  from: string;
  /** Node at the end of the direction. */
  to: string;
  /** Transmission rate; null if it changes during a run (bit/s). */
  rate_bps: number | null;
  /** Bytes transmitted, including link-layer headers (B). */
  carried_bytes: number;
  /**
   * Fraction of the run during which the link transmitted; a detected outage counts as idle. With a trace of delivery
   * opportunities (mahimahi): fraction of the offered bytes that the link carried.
   */
  utilisation: number;
  /** Packets dropped because the queue was full. */
  dropped_queue: number;
  /** Packets that the queue discipline dropped although the queue was not full. */
  dropped_aqm: number;
  /** Packets that the policer dropped because they exceeded its rate and its burst. */
  dropped_police: number;
  /** Packets dropped because they were larger than the MTU of the link. */
  dropped_mtu: number;
  /** Packets dropped because they were corrupted. */
  dropped_error: number;
  /** Packets that were cut off or discarded by an outage of the link. */
  dropped_outage: number;
  /** ACKs that the ACK filter of the queue dropped (packets). */
  dropped_acks: number;
  /**
   * Packets dropped because a transmitter of a constellation had no receiver, or lost its receiver while they waited.
   */
  dropped_route: number;
  /** Waiting packets that were rerouted because a transmitter of a constellation pointed elsewhere. */
  withdrawn: number;
  /** Packets that the queue discipline marked (ECN). */
  marked: number;
  /** Packets that the link duplicated. */
  duplicated: number;
  /** Packets that the link delayed, so that later packets overtook them. */
  reordered: number;
  /** Repair packets sent by the forward error correction of the link. */
  repair_packets: number;
  /** Lost packets that forward error correction recovered; they are not in `dropped_error` or `dropped_outage`. */
  repaired: number;
  /**
   * Fraction of the sent packets that were lost despite forward error correction, or dropped in outages; null without
   * forward error correction.
   */
  residual_loss: number | null;
  /** Baseband frames with packets. */
  baseband_frames: number;
  /** Dummy baseband frames, which are sent while no packet waits. */
  dummy_frames: number;
  /** Bytes of headers and trailers that encapsulate packets in baseband frames (B). */
  encapsulation_bytes: number;
  /** Unused bytes of baseband frames with packets (B). */
  padding_bytes: number;
  /** Mean number of waiting packets over time, not counting the packet in transmission. */
  mean_queue_packets: number;
  /** Maximum number of waiting packets. */
  max_queue_packets: number;
  /** Number of packets with payload whose waiting time was measured. */
  data_packets?: number;
  /** Mean waiting time (s). */
  mean_wait_s?: number | null;
  /** Median waiting time (s). */
  median_wait_s?: number | null;
  /** 95th percentile of the waiting time (s). */
  p95_wait_s?: number | null;
  /** 99th percentile of the waiting time (s). */
  p99_wait_s?: number | null;
  /** Maximum waiting time (s). */
  max_wait_s?: number | null;
}

/** The results of a flow at a proxy. Segment counts describe the connection from the proxy towards the receiver. */
export interface ProxySummary {
  /** Node of the proxy. */
  node: string;
  /** Name of the flow. */
  flow: string;
  /** Congestion control of the proxy's connection towards the receiver. */
  congestion: string;
  /** Payload that the proxy acknowledged towards the sender, excluding requests (B). */
  confirmed_bytes: number;
  /** Payload acknowledged by the next hop (B). */
  acknowledged_bytes: number;
  /** Payload that the proxy acknowledged before it crashed, but that never reached the next hop (B). */
  lost_bytes: number;
  /** Maximum number of bytes in the proxy's buffer: read, but not yet acknowledged by the next hop (B). */
  max_buffer_bytes: number;
  /** Mean number of bytes in the proxy's buffer since the connection towards the receiver was opened (B). */
  mean_buffer_bytes: number;
  /**
   * Payload from the receiver to the sender that the proxy forwarded, such as requests, including those for objects
   * that it prefetched (B).
   */
  request_bytes: number;
  /** Maximum number of bytes in the buffer of that direction (B). */
  max_request_buffer_bytes: number;
  /** Segments sent with payload, including retransmissions. */
  sent_segments: number;
  /** Retransmitted segments with payload. */
  retransmitted_segments: number;
  /** Expirations of the retransmission timer. */
  timeouts: number;
  /** Number of times that fast recovery was entered. */
  recoveries: number;
  /** Smallest round-trip sample; null without a sample (s). */
  min_rtt_s: number | null;
  /** Reason why the connection with the sender's side was aborted; omitted otherwise. */
  client_failure?: string;
  /** Reason why the connection towards the receiver was aborted; omitted otherwise. */
  server_failure?: string;
  prefetched?: {
    /** Number of objects that the proxy requested before the client. */
    objects: number;
    /** Bytes of these objects that the proxy has read (B). */
    bytes: number;
    /** Bytes of these objects that the client has not requested (B). */
    unused_bytes: number;
    /** Maximum number of bytes of these objects that the next proxy stored (B). */
    max_stored_bytes: number;
  };
}

/** One leg of a flow that proxies split. */
export interface LegSummary {
  /** Name of the flow. */
  flow: string;
  /** Index of the leg on the path from the sender, starting at 1. */
  leg: number;
  /** Node that sends on the leg. */
  from: string;
  /** Node where the leg ends: the next proxy, or the receiver. */
  to: string;
  /** Congestion control of the leg's sender. */
  congestion: string;
  /** Time when the leg's connection was opened; null if it was not. */
  start_s: number | null;
  /**
   * Arrival time of the last byte at the end of the leg; null if it did not arrive. For requests and pages, time of
   * their end (s).
   */
  finish_s: number | null;
  /** Payload delivered in order at the end of the leg (B). */
  delivered_bytes: number;
  /** Delivered payload in bits, divided by the time from start to finish, or to the end of the run (bit/s). */
  goodput_bps: number;
  /** Segments sent with payload, including retransmissions. */
  sent_segments: number;
  /** Retransmitted segments with payload. */
  retransmitted_segments: number;
  /** Expirations of the retransmission timer. */
  timeouts: number;
  /** Number of times that fast recovery was entered. */
  recoveries: number;
  /** ACKs that the leg's sender received while data was outstanding, including duplicates. */
  acks_received: number;
  /** Smallest round-trip sample; null without a sample (s). */
  min_rtt_s: number | null;
  /** Mean of the round-trip samples; null without a sample (s). */
  mean_rtt_s: number | null;
  /** Mean congestion window in segments, from the establishment of the connection to the finish of the leg. */
  mean_cwnd_segments: number;
  limited_s: {
    /** Time limited by the congestion window (s). */
    cwnd: number;
    /** Time limited by the receiver's window; for QUIC, by credit. */
    rwnd: number;
    /** Time limited by the application, which had nothing to send; includes opening and closing the connection (s). */
    application: number;
    /** Time limited by pacing (s). */
    pacing: number;
    /** Time spent on repairs in fast recovery (s). */
    recovery: number;
    /** Time spent waiting for a timeout, and on repairs after one (s). */
    timeout: number;
  };
  quic_limited_s?: {
    /** Time spent waiting for keys or messages of the handshake, except timeouts (s). */
    handshake: number;
    /**
     * Time limited by the anti-amplification limit: three times the bytes received from a client whose address is not
     * validated (s).
     */
    amplification: number;
    /** Time in which the peer had requests, and waited for permission to open streams (MAX_STREAMS) (s). */
    stream_limit: number;
    /** Time limited by the credit of the connection (MAX_DATA) (s). */
    connection_credit: number;
    /** Time limited by the credit of streams (MAX_STREAM_DATA) (s). */
    stream_credit: number;
    /** Time limited by the send buffer (s). */
    send_buffer: number;
    /** Time without data to send or in flight (s). */
    idle: number;
  };
}

/**
 * The results of one direction of a tunnel: the packets that entered at its start, and the sender of the tunnel's
 * connection there.
 */
export interface TunnelSummary {
  /** Name of the tunnel's connection, `tunnel CLIENT-SERVER`, in tables of flows over time. */
  tunnel: string;
  /** Node where packets enter. */
  from: string;
  /** Node at the other end, from where they continue. */
  to: string;
  /** Congestion control of the tunnel's connection at its sender. */
  congestion: string;
  /** Packets that entered the tunnel, including those that it dropped. */
  entered_packets: number;
  /** Bytes of these packets at the network layer (B). */
  entered_bytes: number;
  /** Packets delivered at the other end. */
  delivered_packets: number;
  /** Bytes of these packets at the network layer (B). */
  delivered_bytes: number;
  /** Packets that the queue of datagrams dropped because newer ones filled it. */
  dropped_queue: number;
  /** Packets dropped because they did not fit into a datagram of the tunnel. */
  dropped_size: number;
  /** Packets dropped because the tunnel's connection had ended. */
  dropped_closed: number;
  /** Packets whose datagrams the connection lost and does not repeat. */
  lost_packets: number;
  /** Packets of the connection sent with datagrams (segments). */
  sent_segments: number;
  /** Packets of the connection declared lost (segments). */
  lost_segments: number;
  /** Probe timeouts of the connection. */
  timeouts: number;
  /** Number of congestion episodes. */
  recoveries: number;
  /** Smallest round-trip sample; null without a sample (s). */
  min_rtt_s: number | null;
  /** Mean of the round-trip samples; null without a sample (s). */
  mean_rtt_s: number | null;
  /** Mean congestion window in packets, from the establishment of the connection (segments). */
  mean_cwnd_segments: number;
  limited_s: {
    /** Time limited by the congestion window (s). */
    cwnd: number;
    /** Time limited by the receiver's window; for QUIC, by credit. */
    rwnd: number;
    /** Time limited by the application, which had nothing to send; includes opening and closing the connection (s). */
    application: number;
    /** Time limited by pacing (s). */
    pacing: number;
    /** Time spent on repairs in fast recovery (s). */
    recovery: number;
    /** Time spent waiting for a timeout, and on repairs after one (s). */
    timeout: number;
  };
  quic_limited_s?: {
    /** Time spent waiting for keys or messages of the handshake, except timeouts (s). */
    handshake: number;
    /**
     * Time limited by the anti-amplification limit: three times the bytes received from a client whose address is not
     * validated (s).
     */
    amplification: number;
    /** Time in which the peer had requests, and waited for permission to open streams (MAX_STREAMS) (s). */
    stream_limit: number;
    /** Time limited by the credit of the connection (MAX_DATA) (s). */
    connection_credit: number;
    /** Time limited by the credit of streams (MAX_STREAM_DATA) (s). */
    stream_credit: number;
    /** Time limited by the send buffer (s). */
    send_buffer: number;
    /** Time without data to send or in flight (s). */
    idle: number;
  };
  /** Reason why the connection ended; omitted otherwise. */
  failure?: string;
}

/**
 * A node's interface to a medium. The columns of access classes are present if a radio had packets of a class other
 * than best effort.
 */
export interface InterfaceSummary {
  /** Name of the interface, `node@medium`. */
  name: string;
  /** Node that the interface belongs to. */
  node: string;
  /** Medium that the interface belongs to. */
  medium: string;
  /** Data and management frames sent, counting every attempt; excludes control responses. */
  sent_frames: number;
  /** Frames received intact and addressed to the node or broadcast. */
  received_frames: number;
  /** Retransmissions of frames. */
  retries: number;
  /** Frames that the receiver had locked onto and that were then lost because of another frame on the air. */
  collisions: number;
  /** Frames that the receiver had locked onto and that were then lost because of noise alone. */
  errors: number;
  /** Fraction of the run during which the radio transmitted. */
  utilisation: number;
  /** Fraction of the run during which the radio sensed the medium busy, including its own transmissions. */
  busy: number;
  /** Airtime of the unicast frames sent, which carry packets and routing messages (s). */
  unicast_airtime_s: number;
  /** Airtime of the broadcast frames sent, which carry routing messages (s). */
  broadcast_airtime_s: number;
  /** Airtime of control frames sent: ACK, RTS, CTS (s). */
  control_airtime_s: number;
  /** Frames dropped because the queue was full. */
  dropped_queue: number;
  /** Frames dropped after the last retry. */
  dropped_retry: number;
  /** Frames dropped because their lifetime expired. */
  dropped_lifetime: number;
  /** Packets dropped because no route was found. */
  dropped_no_route: number;
  /** Mean number of frames in the queue over the run, including frames being sent. */
  mean_queue_packets: number;
  /** Maximum number of frames in the queue, including frames being sent. */
  max_queue_packets: number;
  /** A-MPDUs sent, counting every attempt. */
  aggregates: number;
  /** Mean number of frames (MPDUs) in an A-MPDU; null if none was sent. */
  mpdus_per_aggregate: number | null;
  /** Datagrams with routing messages that were sent (packets). */
  routing_packets: number;
  /** Total size of the routing messages sent, including UDP and IP headers (B). */
  routing_bytes: number;
  /** Route requests sent, including forwarded requests. */
  route_requests: number;
  /** Number of times that a route appeared, disappeared, or changed its next hop or length. */
  route_changes: number;
  /** Broken links to neighbours that were reported to the routing agent. */
  broken_links: number;
  best_effort?: {
    /** Frames of this class sent, counting every attempt. */
    sent_frames: number;
    /** Mean number of frames in the queue of this class over the run. */
    mean_queue_packets: number;
    /** Maximum number of frames in the queue of this class. */
    max_queue_packets: number;
  };
  background?: {
    /** Frames of this class sent, counting every attempt. */
    sent_frames: number;
    /** Mean number of frames in the queue of this class over the run. */
    mean_queue_packets: number;
    /** Maximum number of frames in the queue of this class. */
    max_queue_packets: number;
  };
  video?: {
    /** Frames of this class sent, counting every attempt. */
    sent_frames: number;
    /** Mean number of frames in the queue of this class over the run. */
    mean_queue_packets: number;
    /** Maximum number of frames in the queue of this class. */
    max_queue_packets: number;
  };
  voice?: {
    /** Frames of this class sent, counting every attempt. */
    sent_frames: number;
    /** Mean number of frames in the queue of this class over the run. */
    mean_queue_packets: number;
    /** Maximum number of frames in the queue of this class. */
    max_queue_packets: number;
  };
  access?: {
    /** Slots assigned to the station, including its constant assignment. */
    granted_slots: number;
    /** Assigned slots in which the station sent a burst. */
    used_slots: number;
    /** Assigned slots that the station left empty. */
    idle_slots: number;
    /** Capacity requests sent. */
    requests: number;
    /** Transmissions by random access; replicas are not counted. */
    contentions: number;
    /** Transmissions by random access that were decoded without cancellation of interference. */
    decoded_first: number;
    /** Transmissions by random access that were decoded after other bursts had been cancelled. */
    decoded_later: number;
    /** Maximum number of iterations until one of them was decoded. */
    max_iteration: number;
    /** Packets lost to bursts of other stations, without a retransmission. */
    dropped_collision: number;
    /** Bursts that were not decoded, because the weather changed faster than the waveform. */
    lost_bursts: number;
    /** Number of times that the terminal changed its waveform. */
    waveform_changes: number;
    /** Packets lost with such bursts. */
    dropped_error: number;
    /** Mean time from the arrival of a packet to the burst that carries its last byte; null if none was sent (s). */
    queueing_mean_s: number | null;
    /** Maximum of this time (s). */
    queueing_max_s: number;
    /** Energy of the transmissions, at the transmit power of random access; null for a beam (mJ). */
    energy_mj: number | null;
  };
}

/** The tables of a run's summary. Those without rows may be left out. */
export interface Summed {
  flows: FlowSummary[];
  links: LinkSummary[];
  proxies: ProxySummary[];
  legs: LegSummary[];
  tunnels: TunnelSummary[];
  interfaces: InterfaceSummary[];
}

/** The columns of the tables that a run records. */
export interface Recorded {
  /** The state of senders over time, with one row per flow and time. Unknown values are NaN here and null in files. */
  trace:
    | "time_s"
    | "flow"
    | "cwnd_segments"
    | "ssthresh_segments"
    | "w_max_segments"
    | "k_s"
    | "srtt_s"
    | "rtt_s"
    | "inflight_bytes"
    | "sent_bytes"
    | "acked_bytes"
    | "delivered_bytes"
    | "arrived_bytes"
    | "phase"
    | "state"
    | "bottleneck_rate_bps"
    | "rtprop_s"
    | "pacing_rate_bps"
    | "pacing_gain"
    | "cwnd_gain"
    | "rho"
    | "leg";
  /**
   * Number of packets that wait at links, over time. For links of a constellation, rows start with the first packet.
   */
  queue: "time_s" | "link" | "packets" | "bytes";
  /** Every dropped packet. */
  drops: "time_s" | "link" | "flow" | "backward" | "bytes" | "cause";
  /** Every ACK that a sender processed, and the state of the sender after the ACK and the segments that it released. */
  acks:
    | "time_s"
    | "flow"
    | "snd_una"
    | "snd_nxt"
    | "cwnd_bytes"
    | "ssthresh_bytes"
    | "srtt_s"
    | "inflight_bytes"
    | "state";
  /** Responses and pages, ordered by flow and then by arrival. */
  responses: "time_s" | "flow" | "duration_s" | "first_byte_s" | "byte_index_s" | "bytes";
  /** Objects of pages from files that arrived completely, ordered by flow and then by arrival. */
  objects:
    | "time_s"
    | "flow"
    | "page"
    | "object"
    | "connection"
    | "start_s"
    | "first_byte_s"
    | "end_s"
    | "bytes"
    | "prefetched";
  /**
   * The paths of flows over media or a constellation, recorded at every change: one row per node on the data path, from
   * the sender to the receiver.
   */
  paths: "time_s" | "flow" | "hops" | "hop" | "node";
  /** The positions of nodes over time. */
  positions: "time_s" | "node" | "x_m" | "y_m" | "z_m";
}
