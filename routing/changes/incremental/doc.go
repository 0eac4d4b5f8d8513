// SPDX-License-Identifier: Apache-2.0

// Package incremental adapts forwarding tables to a changed subnet and changes only the entries that it must. It
// follows section 6 of the memo "OpenSM Unicast Routing Enhancements for Scalability" (Zahavi and Kalka, 2005), and its
// table 1 for what a change invalidates:
//
//   - Links of hosts change nothing.
//   - Routes over a failed switch link are distributed over the other links between the same two switches.
//   - If there are none, the switches whose routes use it get another path. Entries without any path stay
//     unchanged and are reported.
//
// The memo does not cover moved hosts and new switches: the LIDs of the former, and the tables and LIDs of the latter,
// are routed by the fewest hops. New links are not used until something is routed again.
package incremental
