// SPDX-License-Identifier: Apache-2.0

// Package persist brings a saved routing to the subnet as it is now. It follows section 7 of the memo "OpenSM
// Unicast Routing Enhancements for Scalability" (Zahavi and Kalka, 2005): the saved topology is compared with
// the subnet, each change is judged by the memo's table 1, what is still valid of the tables, the min-hop
// tables and the roots is used, and only the rest is computed.
package persist
