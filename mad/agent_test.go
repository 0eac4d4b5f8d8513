// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"sync"
	"testing"
	"time"
)

var errBroken = errors.New("wire cut")

// agent is a transport to a simulated subnet: handle returns the answers to each sent frame.
type agent struct {
	handle func(n int, f Frame) []answer
	hold   func(n int) error // if set, called first by Send; may block

	in         chan Frame
	interrupts chan struct{}
	closed     chan struct{}
	once       sync.Once

	mu    sync.Mutex
	sends int
	sent  []Frame
	fail  error // of Send
}

// answer is a frame that arrives after a delay.
type answer struct {
	after time.Duration
	frame Frame
}

func newAgent(handle func(n int, f Frame) []answer) *agent {
	return &agent{
		handle: handle, in: make(chan Frame, 1<<14), interrupts: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

func (a *agent) Send(f *Frame) error {
	if a.hold != nil {
		a.mu.Lock()
		n := a.sends
		a.sends++
		a.mu.Unlock()
		if err := a.hold(n); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return a.fail
	}
	a.sent = append(a.sent, *f)
	for _, x := range a.handle(len(a.sent)-1, *f) {
		if x.after == 0 {
			a.in <- x.frame
		} else {
			time.AfterFunc(x.after, func() { a.in <- x.frame })
		}
	}
	return nil
}

func (a *agent) Recv(f *Frame) error {
	select {
	case *f = <-a.in:
		return nil
	default:
	}
	select {
	case *f = <-a.in:
		return nil
	case <-a.interrupts:
		return ErrInterrupted
	case <-a.closed:
		return errBroken
	}
}

func (a *agent) Interrupt() bool {
	select {
	case a.interrupts <- struct{}{}:
	default:
	}
	return true
}

func (a *agent) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

func (a *agent) frames() []Frame {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent
}

// reply returns the answer to f with the given status. Its data begin with the attribute modifier, so that tests can
// tell answers apart.
func reply(f Frame, status Status) Frame {
	var s SMP
	if err := s.UnmarshalBinary(f.Data[:]); err != nil {
		panic(err)
	}
	s.Method = MethodGetResp
	s.Direction = true
	s.Status = status
	s.TID |= 0xabcd << 48 // as ibsim does
	s.Data[0], s.Data[1], s.Data[2], s.Data[3] = uint8(s.Mod>>24), uint8(s.Mod>>16), uint8(s.Mod>>8), uint8(s.Mod)
	f.Status = 0
	s.Put(&f.Data)
	return f
}

func at(after time.Duration, f Frame) answer { return answer{after, f} }

// echo answers everything at once.
func echo(_ int, f Frame) []answer { return []answer{at(0, reply(f, StatusOK))} }

// silence answers nothing.
func silence(int, Frame) []answer { return nil }

func newTestClient(t testing.TB, a *agent, opts ClientOptions) *Client {
	t.Helper()
	c, err := NewClient(a, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}
