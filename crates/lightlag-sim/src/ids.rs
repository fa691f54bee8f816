//! Numbers that tell the parts of a world apart, each a type of its own. Those of nodes, links and endpoints come from
//! `lightlag-net`.

/// Declares positions in a list as types.
macro_rules! indices {
    ($($(#[$about:meta])* $visible:vis struct $name:ident;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        $visible struct $name(pub u32);

        impl $name {
            /// The position in the list.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

indices! {
    /// A flow, by its position among the flows of the network.
    pub struct FlowIndex;

    /// A flow of UDP, by its position among those.
    pub(crate) struct UdpIndex;

    /// An endpoint that sends data, by its position among those: flows of TCP first, then the far ends of proxies.
    pub(crate) struct SenderIndex;
}
