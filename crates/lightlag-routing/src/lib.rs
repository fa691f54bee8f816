//! Routing agents of ad hoc networks: AODV, OLSR, DSDV, GPSR.
