// SPDX-License-Identifier: Apache-2.0

// Package credits finds credit loops: rings of links in which each waits for the
// buffer behind the next, so that packets may stand still for ever.
//
// A channel is one direction of a link between switches together with a virtual VL. Packets that come in by
// one channel and leave by another make the first depend on the second. Routes can deadlock only if these
// dependencies have a cycle (Dally, Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
// Networks", IEEE Transactions on Computers C-36, 1987). Links of hosts are in no cycle, for a host takes in
// what it is sent, and are left out.
//
// The VL of a packet on a link is what the SLtoVLMappingTable of the switch says for the packet's SL and the
// ports by which it comes in and leaves (IBA 1.2.1, 7.6.6), VL 0 everywhere where the tables have no
// mappings. The service level is that of the path, 0 where the tables have none.
//
// Tables that were read from switches lack what the subnet manager alone knows, see [fabric.Unread]: of those
// a loop is told only where it is there whatever the service levels are, as where every link operates one
// lane or maps all levels to one, and that there is none only where all packets may share a lane without one.
//
// All packets count that hosts can send, those too that do not arrive: they hold
// buffers as far as they come, and a loop in forwarding tables is a ring of its own.
package credits
