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

// ClientOptions say how a [Client] treats the subnet. Zero fields take the defaults, which are gentle:
// management agents of switches are slow, have room for few packets on VL 15, which has no flow control, and
// drop the rest. For a subnet that is simulated [Fast] has others.
type ClientOptions struct {
	// Window is how many requests are in flight at most, from 1 to [MaxWindow]; 16. OpenSM keeps 4 on the
	// wire (max_wire_smps). It is a bound: the client begins with 4 or MinWindow, has more in flight as long
	// as answers come, and halves what it has when they fail to.
	Window int
	// MinWindow is how many requests may be in flight however many get no answer;
	// an eighth of Window. If it is Window, the window does not change.
	MinWindow int
	// PerTarget is how many requests are in flight to the same LID, or by the
	// same directed route, at most; a quarter of Window, 4 at least.
	PerTarget int
	Timeout   time.Duration // how long the first try waits for an answer; 200 ms
	// Tries is how often a request is sent before it has failed; 3. A target that
	// has failed several times in a row gets one try until it answers.
	Tries   int
	Backoff float64 // by how much a try waits longer than the one before it, at least 1; 2
	MKey    uint64  // of the subnet management requests that name none
	// Traps, if it is not nil, gets the traps that come in. One that finds no room there is dropped, and
	// counted ([Stats.TrapsDropped]). No trap is answered: that is for subnet managers.
	Traps chan<- Trap
}

// Fast returns options for simulated subnets, whose agents drop nothing: a fixed window of 128 for all and each.
func Fast() ClientOptions { return ClientOptions{Window: 128, MinWindow: 128, PerTarget: 128} }

// MaxWindow is the largest window of a client.
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

// Stats count what a client has done since it began.
type Stats struct {
	Sent     uint64 // frames, those sent again among them
	Retried  uint64 // frames sent again
	Received uint64 // answers that ended a request
	Refused  uint64 // of those, answers with an error status
	TimedOut uint64 // requests that failed without an answer
	Late     uint64 // answers to nothing outstanding: too late, or repeated
	Stray    uint64 // frames that are no answers

	Traps        uint64 // traps that came in
	TrapsDropped uint64 // of those, for want of room
}

// Client asks many questions at a time over a transport, and again without an answer. For any goroutine.
type Client struct {
	transport Transport
	opts      ClientOptions
	timeouts  []time.Duration // of each try
	epoch     time.Time
	batches   sync.Pool     // for Do
	kick      chan struct{} // tells the clock that it sleeps for too long
	dead      chan struct{} // closed with err set
	running   sync.WaitGroup

	mu       sync.Mutex
	err      error // why nothing goes any more
	slots    []slot
	free     []int32
	window   window
	targets  targets
	parked   parking
	queue    []*Batch // those that wait for a free slot
	waiting  []list   // slots by try, in the order of their deadlines; then those of their own time-outs; those due now
	wakeAt   time.Duration
	finished finished
	held     int // bytes of answers in segments
	room     int // for them, MaxTables
	stats    Stats
	lead     lead
	led      sync.Cond // over mu: whether somebody leads has changed
}

// A transaction id is 32 bits, as transports use the upper half: the slot of the request, and above it a number
// that grows with every send. Answers to any try of the request that holds the slot now are good.
const (
	slotBits = 12
	seqBits  = 32 - slotBits
	seqMask  = 1<<seqBits - 1
)

// slot is a place in the window.
type slot struct {
	owner      *Batch // nil: free
	request    Request
	callback   func(*Reply)
	reply      Reply
	frame      Frame
	target     int32
	seq        uint32
	tries      int // so far; 0 unless in flight
	most       int // tries at most
	busy       Status
	sentBack   uint32        // Frame.Status of the last try
	first      time.Duration // when the first try was sent
	last       time.Duration // when the last try was sent
	deadline   time.Duration
	in         int // which list of Client.waiting
	prev, next int32
	table      *Assembler // of an answer in segments that has begun
	held       int        // bytes that this answer takes, counted in Client.held until the slot's next request
	over       time.Duration
	nudges     int
}

// list links slots; -1 ends it.
type list struct{ first, last int32 }

// NewClient starts a client over t, which Close closes. It fails only for options out of their bounds.
func NewClient(t Transport, opts ClientOptions) (*Client, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{
		transport: t,
		opts:      opts,
		epoch:     time.Now(),
		kick:      make(chan struct{}, 1),
		dead:      make(chan struct{}),
		slots:     make([]slot, opts.Window),
		window:    newWindow(opts.MinWindow, opts.Window),
		targets:   newTargets(maxTargets),
		parked:    parking{free: -1},
		waiting:   make([]list, opts.Tries+2),
		lead:      newLead(t),
		room:      MaxTables,
	}
	c.led.L = &c.mu
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

// Options returns the options with the defaults filled in.
func (c *Client) Options() ClientOptions { return c.opts }

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Window returns how many requests may be in flight now.
func (c *Client) Window() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.window.limit()
}

// Close closes the transport and waits for the client's goroutines. Open and later requests fail with
// [ErrClosed].
func (c *Client) Close() error {
	c.fail(ErrClosed)
	err := c.transport.Close()
	c.running.Wait()
	return err
}

// Do asks one question and waits for the answer. Answers with an error status
// are errors that wrap the [Status]. The error is ctx's if that ends first.
func (c *Client) Do(ctx context.Context, req *Request) ([DataSize]byte, error) {
	b := c.batches.Get().(*Batch)
	r := b.do(ctx, req)
	data, err := r.Data, r.Err
	c.batches.Put(b)
	return data, err
}

// Ask is [Client.Do] for requests of all classes: it calls use, if that is not nil, with the answer, which is
// good until use returns, and returns use's error. An answer with an error status is handed to use too, as
// [Reply.Err]. Where there is no answer it returns why, and does not call use.
func (c *Client) Ask(ctx context.Context, req *Request, use func(*Reply) error) error {
	b := c.batches.Get().(*Batch)
	defer c.batches.Put(b)
	r := b.do(ctx, req)
	if use == nil || r.Err != nil && r.MAD == nil {
		return r.Err
	}
	return use(r)
}

// Done is closed once nothing goes any more, as [Client.Err] says.
func (c *Client) Done() <-chan struct{} { return c.dead }

// Err is why nothing goes any more: what the transport said, or [ErrClosed]; nil as long as something does.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) now() time.Duration { return time.Since(c.epoch) }

// fail ends everything, for the first reason given.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.die(err)
}

// die is fail under the lock.
func (c *Client) die(err error) {
	if c.err == nil {
		c.err = err
		close(c.dead)
		c.depose()
	}
}
