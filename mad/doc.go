// SPDX-License-Identifier: Apache-2.0

// Package mad speaks InfiniBand management: it encodes and decodes subnet management packets, performance
// management, and their attributes, and keeps many requests in flight over a [Transport]. Subnet
// administration is in package sa, on top of this one.
//
// Read first the example, then [Client], [Request] and [Batch]. Package umad is the transport to this machine's
// adapters, ibsim to a running ibsim; sa asks a subnet administration, capture writes what a transport carries.
//
// It knows packets, not subnets: a caller says by which [Path] or LID a request goes and gets 64 bytes of
// attribute data back, which the attribute types ([NodeInfo], [PortInfo], [SwitchInfo], ...) decode. Requests
// of other classes go by LID and SL, and their answers are whole MADs ([PortCounters],
// [PortCountersExtended], [ClassPortInfo]).
//
// One request at a time is [Client.Do], or the typed [Client.NodeInfo] and its like. Many requests are a
// [Batch]: callbacks run one after the other in the goroutine that waits for the batch, and may ask for more,
// so that a sweep of a subnet is an event loop without locks.
//
// A client is gentle with a subnet that is in use: how much it has in flight grows while answers come and is
// halved when they fail to; each target, a LID or a directed route, has few requests at a time; one that is
// silent is not asked again and again. [Client.Targets] says how each of them fared. [Fast] is for subnets
// that are simulated. Traps that come in go to [ClientOptions].Traps, and are never answered.
//
// An answer in segments (RMPP) arrives as [Reply].Table; [Assembler] and [Segmenter] are the two ends.
//
// References "IBA" are to the InfiniBand Architecture Specification, volume 1, 1.2.1 unless said.
package mad
