// SPDX-License-Identifier: Apache-2.0

// Package mad encodes and decodes InfiniBand management datagrams (MADs) and sends many requests at a time over a
// [Transport]. It covers subnet management, performance management and their attributes. Package sa is built on this
// package and covers subnet administration.
//
// Start with the example, then read [Client], [Request] and [Batch]. Package umad is the transport to the adapters of
// this machine, and package ibsim the transport to a running ibsim. Package capture records the packets of a transport.
//
// The package handles packets and has no model of the subnet. A caller gives the [Path] or LID of a request. The result
// is 64 bytes of attribute data, which the attribute types ([NodeInfo], [PortInfo], [SwitchInfo], ...) decode. Requests
// of other classes are sent by LID and SL. Their answers are whole MADs ([PortCounters], [PortCountersExtended],
// [ClassPortInfo]).
//
// [Client.Do] and typed methods such as [Client.NodeInfo] send a single request. A [Batch] sends many requests. Its
// callbacks run one after the other in the goroutine that waits for the batch, and may add requests. A sweep of a
// subnet is therefore an event loop without locks.
//
// A client limits its load on the subnet. The number of requests in flight grows while answers arrive, and is halved
// when answers do not arrive. Each target (a LID or a directed route) has few requests in flight. A target that does
// not respond gets fewer retries. [Client.Targets] reports statistics of each target. [Fast] returns options for
// simulated subnets. Incoming traps go to [ClientOptions].Traps and are never answered.
//
// A segmented answer (RMPP) arrives as [Reply].Table. [Assembler] and [Segmenter] are the two ends of such a transfer.
//
// References "IBA" mean the InfiniBand Architecture Specification, volume 1, release 1.2.1, unless stated otherwise.
package mad
