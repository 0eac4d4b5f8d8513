// SPDX-License-Identifier: Apache-2.0

package mad

import "time"

// QP1 is the queue pair of the general services. QKey1 is the Q_Key of QP1 (IBA 1.2.1, 10.2.4.1).
const (
	QP1          = 1
	QKey1 uint32 = 0x80010000
)

// Frame is a MAD that a [Transport] sends or has received.
type Frame struct {
	DLID uint16 // destination; [PermissiveLID] for a directed route; unused in received frames
	SLID uint16 // source of a received frame; 0 if the transport does not know it
	// QP is the queue pair of the other end. It is 0 for SMPs and 1 ([QP1]) for other classes. The Q_Key of other
	// classes is always [QKey1].
	QP   uint32
	SL   uint8  // service level to send with
	PKey uint16 // index of the P_Key to send with; 0 is that of the default partition
	// Status is 0 in a received frame. If a transport detects that a request gets no answer, it returns the request
	// with an errno in Status, normally ETIMEDOUT (110).
	Status  uint32
	Timeout time.Duration // how long the sender waits for an answer, 0 if for none; used by transports that keep time
	Data    [Size]byte    // the MAD
}

// Transport carries MADs between this program and a port. It may lose MADs. It carries each segment and acknowledgement
// of a segmented transfer as a separate frame, and does not process them.
//
// Send and Recv are safe for concurrent use. Several goroutines may call each of them.
type Transport interface {
	// Send sends the frame and does not keep it. Send does not block for long. If a frame cannot be sent within some
	// 100 ms, Send drops it without an error, as a switch does. After an error no further frames can be sent.
	Send(*Frame) error
	// Recv waits for a frame and stores it in its argument. It returns an error if the transport is closed or broken.
	Recv(*Frame) error
	// Close closes the transport. A waiting Recv then returns.
	Close() error
}
