// SPDX-License-Identifier: Apache-2.0

// Package incremental adapts forwarding tables to a subnet that has changed, and touches no more entries than
// that takes. It follows section 6 of the memo "OpenSM Unicast Routing Enhancements for Scalability" (Zahavi
// and Kalka, 2005), and its table 1 for what a change invalidates:
//
//   - Links of hosts change nothing.
//   - Routes over a switch link that failed are spread over the other links between
//     the same two switches.
//   - Where there are none, the switches that feed it with routes through it are
//     given another path; what has none is left as it is, and named.
//
// The memo leaves open what becomes of hosts that were moved, and of switches that come: the LIDs of the
// former, and the tables and LIDs of the latter, are routed anew by the fewest hops. Links that come are not
// used until something is routed anew.
package incremental
