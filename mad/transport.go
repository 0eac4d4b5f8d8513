// SPDX-License-Identifier: Apache-2.0

package mad

import "time"

// The queue pair of the general services, and its Q_Key (IBA 1.2.1, 10.2.4.1).
const (
	QP1          = 1
	QKey1 uint32 = 0x80010000
)

// Frame is a MAD on its way to or from a [Transport].
type Frame struct {
	DLID uint16 // where the frame goes, [PermissiveLID] by directed route; means nothing in one that came in
	SLID uint16 // where a frame that came in is from, 0 where the transport does not say
	// QP is that of the other end, 0 for SMPs and 1 for other classes ([QP1]), whose Q_Key is always [QKey1].
	QP   uint32
	SL   uint8  // the SL to send by
	PKey uint16 // the index of the P_Key to send with, 0 for that of the default partition
	// Status is 0 for a frame that came in. A transport that finds out by itself that a request gets no
	// answer hands the request back with an errno here, ETIMEDOUT (110) as a rule.
	Status  uint32
	Timeout time.Duration // how long the sender waits for an answer, 0 for none: for transports that keep time
	Data    [Size]byte    // the MAD
}

// Transport carries MADs between this program and a port. It may lose them. Of a transfer in segments it
// carries every segment and acknowledgement as a frame of its own, and looks after none of them.
//
// Send and Recv may run at the same time, each in any number of goroutines.
type Transport interface {
	// Send sends the frame and does not keep it. It does not block for long: a frame that cannot be sent within
	// some 100 ms is dropped without an error, as by a switch. After an error nothing can be sent.
	Send(*Frame) error
	// Recv waits for a frame and stores it. It gives an error once the transport is closed or broken.
	Recv(*Frame) error
	// Close ends the transport and makes a waiting Recv return.
	Close() error
}
