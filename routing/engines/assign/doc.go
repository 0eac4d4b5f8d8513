// SPDX-License-Identifier: Apache-2.0

// Package assign turns hop counts into forwarding tables as OpenSM's min-hop family of engines does
// (osm_ucast_mgr.c and osm_switch.c of OpenSM 3.3.23): for each switch and each LID one of the ports that are
// the fewest hops away, the least used of them first.
package assign
