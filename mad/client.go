// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ClientOptions controls the load that a [Client] puts on the subnet. Fields that are zero get the default values. The
// defaults are low because the management agents of switches are slow. VL 15 has no flow control: an agent buffers few
// packets and drops the rest. [Fast] returns options for simulated subnets.
type ClientOptions struct {
	// Window is the maximum number of requests in flight, from 1 to [MaxWindow] (default 16). OpenSM keeps 4 on the
	// wire (max_wire_smps). The client begins with 4 or MinWindow, increases the number while answers arrive, and
	// halves it when answers do not arrive.
	Window int
	// MinWindow is the number of requests that may be in flight even if answers are lost (default an eighth of Window).
	// If it equals Window, the window is fixed.
	MinWindow int
	// PerTarget is the maximum number of requests in flight to one LID or directed route (default a quarter of Window,
	// at least 4).
	PerTarget int
	Timeout   time.Duration // how long the first try waits for an answer (default 200 ms)
	// Tries is the maximum number of times that a request is sent before it fails (default 3). If a target has left
	// several requests in a row unanswered, further requests to it are sent only once, until the target answers.
	Tries   int
	Backoff float64 // factor by which the timeout grows with each try, 1 to 10 (default 2)
	MKey    uint64  // M_Key of subnet management requests without their own M_Key
	// Traps receives incoming traps, unless it is nil. If the channel has no space, a trap is dropped and counted in
	// [Stats].TrapsDropped. The client does not answer traps, because that is the task of subnet managers.
	Traps chan<- Trap
}

// Fast returns options for simulated subnets, whose agents do not drop requests. The window is fixed at 128 requests,
// both for the whole subnet and for each target.
func Fast() ClientOptions { return ClientOptions{Window: 128, MinWindow: 128, PerTarget: 128} }

// MaxWindow is the maximum of ClientOptions.Window.
const MaxWindow = 1 << slotBits

const maxTries = 32

func (o ClientOptions) withDefaults() (ClientOptions, error) {
	o.Window = cmp.Or(o.Window, 16)
	o.MinWindow = cmp.Or(o.MinWindow, max(1, o.Window/8))
	o.PerTarget = cmp.Or(o.PerTarget, min(o.Window, max(4, o.Window/4)))
	o.Timeout = cmp.Or(o.Timeout, 200*time.Millisecond)
	o.Tries = cmp.Or(o.Tries, 3)
	o.Backoff = cmp.Or(o.Backoff, 2)
	switch {
	case o.Window < 1 || o.Window > MaxWindow:
		return o, fmt.Errorf("client options: window %d, want 1 to %d", o.Window, MaxWindow)
	case o.MinWindow < 1 || o.MinWindow > o.Window:
		return o, fmt.Errorf("client options: smallest window %d, want 1 to %d", o.MinWindow, o.Window)
	case o.PerTarget < 1:
		return o, fmt.Errorf("client options: %d requests per target, want 1 or more", o.PerTarget)
	case o.Timeout < 0:
		return o, fmt.Errorf("client options: timeout %v, want more than 0", o.Timeout)
	case o.Tries < 1 || o.Tries > maxTries:
		return o, fmt.Errorf("client options: %d tries, want 1 to %d", o.Tries, maxTries)
	case !(o.Backoff >= 1 && o.Backoff <= 10):
		return o, fmt.Errorf("client options: backoff %v, want 1 to 10", o.Backoff)
	}
	return o, nil
}

// Stats counts the requests and answers of a client since it was created.
type Stats struct {
	Sent     uint64 // frames, including retries
	Retried  uint64 // frames sent again
	Received uint64 // answers that ended a request
	Refused  uint64 // answers with an error status, which Received includes
	TimedOut uint64 // requests that failed without an answer
	Late     uint64 // answers to no outstanding request: late or repeated
	Stray    uint64 // frames that are not answers

	Traps        uint64 // traps that came in
	TrapsDropped uint64 // traps that were dropped because the channel was full
}

// Client multiplexes requests over a transport and retries them. It is safe for concurrent use.
type Client struct {
	transport Transport
	opts      ClientOptions
	timeouts  []time.Duration // of each try
	epoch     time.Time
	batches   sync.Pool     // for Do
	kick      chan struct{} // wakes the clock before its timer
	dead      chan struct{} // closed with err set
	running   sync.WaitGroup

	mu      sync.Mutex
	err     error // why the client has failed; nil while it works
	slots   []slot
	free    []int32
	window  window
	targets targets
	parked  parking
	queue   []*Batch // waiting for a free slot
	// waiting holds lists of slots: one list for each try, ordered by deadline, then the list of slots with their own
	// deadlines, then the list of slots that are due now.
	waiting         []list
	wakeAt          time.Duration
	acks            recentAcks
	segmentBytes    int // of memory that segmented answers hold now
	maxSegmentBytes int // MaxTables
	stats           Stats
	lead            lead
	leadChanged     sync.Cond // over mu
}

// A transaction ID has 32 bits, because transports use the upper half. It consists of the slot of the request and,
// above it, a number that grows with every send. The client accepts an answer to any try of the request that is now in
// the slot.
const (
	slotBits = 12
	seqBits  = 32 - slotBits
	seqMask  = 1<<seqBits - 1
)

// slot is one place of the window.
type slot struct {
	owner        *Batch // nil: free
	request      Request
	callback     func(*Reply)
	reply        Reply
	frame        Frame
	target       int32
	seq          uint32
	tries        int // so far; 0 unless in flight
	maxTries     int
	busy         Status
	sentBack     uint32        // Frame.Status of the last try
	first        time.Duration // when the first try was sent
	last         time.Duration // when the last try was sent
	deadline     time.Duration
	in           int // index of the list in Client.waiting
	prev, next   int32
	table        *Assembler    // of a segmented answer that has begun
	segmentBytes int           // of this answer, counted in Client.segmentBytes until the slot's next request
	transferEnd  time.Duration // when the transfer has taken too long
	repeatedAcks int           // since the last new segment
}

// list is a linked list of slots. The value -1 marks the end.
type list struct{ first, last int32 }

// NewClient starts a client that uses transport t. Close of the client closes t. NewClient returns an error only for
// invalid options.
func NewClient(t Transport, opts ClientOptions) (*Client, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		transport:       t,
		opts:            opts,
		epoch:           time.Now(),
		kick:            make(chan struct{}, 1),
		dead:            make(chan struct{}),
		slots:           make([]slot, opts.Window),
		window:          newWindow(opts.MinWindow, opts.Window),
		targets:         newTargets(maxTargets),
		parked:          parking{free: -1},
		waiting:         make([]list, opts.Tries+2),
		lead:            newLead(t),
		maxSegmentBytes: MaxTables,
	}
	c.leadChanged.L = &c.mu
	wait := float64(opts.Timeout)
	for range opts.Tries {
		c.timeouts = append(c.timeouts, time.Duration(min(wait, float64(time.Hour))))
		wait *= opts.Backoff
	}
	for i := range c.slots {
		c.slots[i].seq = rand.Uint32() & seqMask
		c.free = append(c.free, int32(i))
	}
	for i := range c.waiting {
		c.waiting[i] = list{-1, -1}
	}
	c.batches.New = func() any { return newBatch(c) }
	c.running.Add(2)
	go c.receive()
	go c.clock()
	return c, nil
}

// Options returns the options of the client, including the default values.
func (c *Client) Options() ClientOptions { return c.opts }

// Stats returns the current counts.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Window returns the number of requests that may be in flight now.
func (c *Client) Window() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.window.limit()
}

// Close closes the transport and waits for the client's goroutines. Outstanding and later requests fail with
// [ErrClosed].
func (c *Client) Close() error {
	c.fail(ErrClosed)
	err := c.transport.Close()
	c.running.Wait()
	return err
}

// Do sends one request and waits for the answer. If the answer has an error status, Do returns an error that wraps the
// [Status]. If ctx ends first, Do returns the error of ctx.
func (c *Client) Do(ctx context.Context, req *Request) ([DataSize]byte, error) {
	b := c.batches.Get().(*Batch)
	r := b.do(ctx, req)
	data, err := r.Data, r.Err
	c.batches.Put(b)
	return data, err
}

// Ask is like [Client.Do], for requests of all classes. It calls the function use, if not nil, with the answer and
// returns the error of use. The answer is valid only until the function use returns. Ask also calls the function use
// for an answer with an error status, which is in [Reply].Err. If no answer arrives, Ask returns the reason and does
// not call the function use.
func (c *Client) Ask(ctx context.Context, req *Request, use func(*Reply) error) error {
	b := c.batches.Get().(*Batch)
	defer c.batches.Put(b)
	r := b.do(ctx, req)
	if use == nil || r.Err != nil && r.MAD == nil {
		return r.Err
	}
	return use(r)
}

// Done returns a channel that is closed when the client has failed. [Client.Err] then returns the reason.
func (c *Client) Done() <-chan struct{} { return c.dead }

// Err returns the reason why the client has failed: the error of the transport, or [ErrClosed]. It returns nil while
// the client works.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) now() time.Duration { return time.Since(c.epoch) }

// fail ends all requests. If fail is called twice, the first reason counts.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

// failLocked is fail with mu held.
func (c *Client) failLocked(err error) {
	if c.err == nil {
		c.err = err
		close(c.dead)
		c.depose()
	}
}
