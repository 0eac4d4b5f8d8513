// SPDX-License-Identifier: Apache-2.0

// Package mad speaks InfiniBand subnet management: it encodes and decodes
// subnet management packets and their attributes, and keeps many requests in
// flight over a [Transport].
//
// It knows packets, not subnets: a caller says by which [Path] or LID a
// request goes and gets 64 bytes of attribute data back, which the attribute
// types ([NodeInfo], [PortInfo], [SwitchInfo], ...) decode.
//
// One request at a time is [Client.Do], or the typed [Client.NodeInfo] and its
// like. Many requests are a [Batch]: callbacks run one after the other in the
// goroutine that waits for the batch, and may ask for more, so that a sweep of
// a subnet is an event loop without locks.
//
// References "IBA" are to the InfiniBand Architecture Specification, volume 1,
// release 1.2.1 where nothing else is said.
package mad
