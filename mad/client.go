// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ClientOptions say how a [Client] treats the subnet. Zero fields take the
// defaults.
type ClientOptions struct {
	// Window is how many requests are in flight at most, from 1 to
	// [MaxWindow]. The default is 8, twice what OpenSM keeps on the wire
	// (max_wire_smps): agents have room for few packets on VL 15 and drop the
	// rest. A simulated subnet takes 64 and more.
	Window int
	// Timeout is how long the first try waits for an answer; 200 ms.
	Timeout time.Duration
	// Tries is how often a request is sent before it has failed; 3.
	Tries int
	// Backoff is by how much a try waits longer than the one before it, at
	// least 1; 2.
	Backoff float64
}

// MaxWindow is the largest window of a client.
const MaxWindow = 1 << slotBits

const maxTries = 32

func (o ClientOptions) withDefaults() (ClientOptions, error) {
	if o.Window == 0 {
		o.Window = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 200 * time.Millisecond
	}
	if o.Tries == 0 {
		o.Tries = 3
	}
	if o.Backoff == 0 {
		o.Backoff = 2
	}
	switch {
	case o.Window < 1 || o.Window > MaxWindow:
		return o, fmt.Errorf("client options: window %d, want 1 to %d", o.Window, MaxWindow)
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
}

// Client asks questions over a transport, many at a time, and asks again when
// no answer comes. Its methods may be called from any goroutine.
type Client struct {
	transport Transport
	opts      ClientOptions
	timeouts  []time.Duration // of each try
	epoch     time.Time
	batches   sync.Pool     // for Do
	kick      chan struct{} // tells the clock that it sleeps for too long
	dead      chan struct{} // closed with err set
	running   sync.WaitGroup

	mu      sync.Mutex
	err     error // why nothing goes any more
	slots   []slot
	free    []int32
	queue   []*Batch // those that wait for a free slot
	waiting []list   // slots by try, in the order of their deadlines; then those due now
	wakeAt  time.Duration
	stats   Stats
}

// A transaction id is 32 bits, as transports use the upper half for themselves:
// the slot of the request, and above it a number that grows with every send.
// Answers to any try of the request that holds the slot now are good.
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
	seq        uint32
	tries      int // so far; 0 unless in flight
	busy       Status
	sentBack   uint32 // Frame.Status of the last try
	deadline   time.Duration
	in         int // which list of Client.waiting
	prev, next int32
}

// list links slots; -1 ends it.
type list struct{ first, last int32 }

// NewClient starts a client over t, which Close closes. It gives an error for
// options out of their bounds only.
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
		waiting:   make([]list, opts.Tries+1),
	}
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

// Close closes the transport and waits for the client's goroutines. Requests
// that are outstanding, and all later ones, fail with [ErrClosed].
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

// Ask is [Client.Do] for requests of all classes: it calls use, if that is not
// nil, with the answer, which is good until use returns, and returns use's
// error. An answer with an error status is handed to use too, as [Reply.Err].
// Where there is no answer it returns why, and does not call use.
func (c *Client) Ask(ctx context.Context, req *Request, use func(*Reply) error) error {
	b := c.batches.Get().(*Batch)
	defer c.batches.Put(b)
	r := b.do(ctx, req)
	if use == nil || r.Err != nil && r.MAD == nil {
		return r.Err
	}
	return use(r)
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
	}
}

// receive takes in what the transport brings until that ends.
func (c *Client) receive() {
	defer c.running.Done()
	var f Frame
	for {
		f.Status = 0
		if err := c.transport.Recv(&f); err != nil {
			c.fail(err)
			return
		}
		c.take(&f)
	}
}

func (c *Client) take(f *Frame) {
	be := binary.BigEndian
	tid := be.Uint32(f.Data[offTID+4:])
	i := int(tid & (MaxWindow - 1))
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Status == 0 && Method(f.Data[offMethod])&MethodResponse == 0 {
		c.stats.Stray++
		return
	}
	if i >= len(c.slots) {
		c.stats.Late++
		return
	}
	s := &c.slots[i]
	age := int((s.seq - tid>>slotBits) & seqMask)
	if age >= s.tries {
		c.stats.Late++
		return
	}
	if f.Status != 0 {
		if age == 0 {
			s.sentBack = f.Status
			c.due(i)
		}
		return
	}
	if f.Data[offClass] != s.frame.Data[offClass] ||
		be.Uint16(f.Data[offAttr:]) != uint16(s.request.Attr) || be.Uint32(f.Data[offMod:]) != s.request.Mod {
		c.stats.Stray++
		return
	}
	c.answer(i, f)
}

// answer ends the request in slot i with the answer f, unless that says to
// come back later.
func (c *Client) answer(i int, f *Frame) {
	s := &c.slots[i]
	status := Status(binary.BigEndian.Uint16(f.Data[offStatus:]) &^ directionBit)
	if status&StatusBusy != 0 {
		s.busy = status
		return
	}
	c.stats.Received++
	if !s.request.Class.isSMP() {
		s.frame.Data = f.Data // nothing is sent again from here on
		s.reply.MAD = &s.frame.Data
	}
	if status != StatusOK {
		c.stats.Refused++
		c.finish(i, s.request.failed(status))
		return
	}
	copy(s.reply.Data[:], f.Data[offData:])
	c.finish(i, nil)
}

// begin puts the request in slot i on the wire's record and its transaction id
// into f; the caller then sends f. It returns false if the client is dead.
func (c *Client) begin(i int, f *Frame) bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	s := &c.slots[i]
	s.tries, s.busy, s.sentBack = 0, 0, 0
	s.reply.Request, s.reply.MAD, s.reply.Table, s.reply.Err = &s.request, nil, nil, nil
	s.frame = *f
	c.try(i, now)
	*f = s.frame
	return true
}

// try makes slot i ready to be sent once more.
func (c *Client) try(i int, now time.Duration) {
	s := &c.slots[i]
	wait := c.timeouts[s.tries]
	s.seq = (s.seq + 1) & seqMask
	binary.BigEndian.PutUint64(s.frame.Data[offTID:], uint64(s.seq<<slotBits|uint32(i)))
	s.frame.Timeout = wait
	s.deadline = now + wait
	c.push(i, s.tries)
	s.tries++
	c.stats.Sent++
	if s.deadline < c.wakeAt {
		c.wake()
	}
}

// sent is called with the error of sending f.
func (c *Client) sent(f *Frame, err error) {
	if err == nil {
		return
	}
	tid := binary.BigEndian.Uint32(f.Data[offTID+4:])
	i := int(tid & (MaxWindow - 1))
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := &c.slots[i]; s.tries > 0 && s.seq == tid>>slotBits {
		c.finish(i, s.request.failed(err))
	}
	if errors.Is(err, ErrBroken) {
		c.die(err)
	}
}

// finish ends the request in slot i and hands it to its owner.
func (c *Client) finish(i int, err error) {
	s := &c.slots[i]
	c.remove(i)
	s.tries = 0
	s.reply.Err = err
	b := s.owner
	b.done = append(b.done, int32(i))
	b.wake()
}
