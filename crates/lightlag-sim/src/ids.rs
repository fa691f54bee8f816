//! Index types of the parts of a world. The types of nodes, links and endpoints are in `lightlag-net`.

/// Declares types for indices into lists.
macro_rules! indices {
    ($($(#[$about:meta])* $visible:vis struct $name:ident;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        $visible struct $name(pub u32);

        impl $name {
            /// Returns the index.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

indices! {
    /// Index of a flow in the list of the network's flows.
    pub struct FlowIndex;

    /// Index of a UDP flow among the UDP flows.
    pub(crate) struct UdpIndex;

    /// Index of an endpoint that sends data among those endpoints: senders of TCP flows first, then the sending
    /// endpoints of proxies.
    pub(crate) struct SenderIndex;
}
