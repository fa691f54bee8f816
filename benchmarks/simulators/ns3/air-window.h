// Counts or corrects the contention window resets of ns-3 after a block acknowledgement request without a reply.
// MIT licence, as the rest of lightlag.
//
// IEEE 802.11-2020 section 10.23.2.2 doubles the window after a failed exchange. ns-3.37 resets it to the minimum if
// all frames covered by the request have expired meanwhile, although the request is retransmitted. The two functions
// below replace the library's functions and call them: the first records such a request, and the second is called for
// the reset that immediately follows it.

#ifndef LIGHTLAG_AIR_WINDOW_H
#define LIGHTLAG_AIR_WINDOW_H

#include "ns3/block-ack-manager.h"
#include "ns3/simulator.h"
#include "ns3/txop.h"

#include <cstdint>
#include <dlfcn.h>

namespace air
{

// Number of resets to the minimum window after a failure; also counts resets that g_keepsWindow suppresses.
inline uint64_t g_windowResets = 0;
inline bool g_keepsWindow = false;
inline bool g_hasGivenUp = false;

template <typename Function>
Function
OfLibrary(const char* symbol)
{
    void* address = dlsym(RTLD_NEXT, symbol);
    NS_ABORT_MSG_IF(address == nullptr, symbol << " is not in this version of ns-3");
    return reinterpret_cast<Function>(address);
}

} // namespace air

namespace ns3
{

void
BlockAckManager::ScheduleBar(Ptr<const WifiMpdu> request, bool skipIfNoDataQueued)
{
    static const auto schedule = air::OfLibrary<void (*)(BlockAckManager*, Ptr<const WifiMpdu>, bool)>(
        "_ZN3ns315BlockAckManager11ScheduleBarENS_3PtrIKNS_8WifiMpduEEEb");
    air::g_hasGivenUp = skipIfNoDataQueued;
    schedule(this, request, skipIfNoDataQueued);
}

void
Txop::ResetCw(uint8_t linkId)
{
    static const auto reset = air::OfLibrary<void (*)(Txop*, uint8_t)>("_ZN3ns34Txop7ResetCwEh");
    const bool afterFailure = air::g_hasGivenUp;
    air::g_hasGivenUp = false;
    air::g_windowResets += afterFailure;
    if (afterFailure && air::g_keepsWindow)
    {
        UpdateFailedCw(linkId);
        return;
    }
    reset(this, linkId);
}

} // namespace ns3

#endif
