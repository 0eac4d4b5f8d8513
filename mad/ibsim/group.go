// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"context"
	"errors"
	"sync"

	"example.org/ibconsole/mad"
)

// Group is a number of clients of one ibsim that sit on one port, as one
// [mad.Transport]. ibsim takes one packet from each client that has any before
// it looks for more, and each client has a queue of its own, so a group is served
// faster than one client. Every member takes one of ibsim's ten places.
type Group struct {
	members []*Transport
	readers sync.WaitGroup

	mu   sync.Mutex
	in   []mad.Frame
	err  error         // of the first member that failed
	wake chan struct{} // has room for one

	recv sync.Mutex
	out  []mad.Frame // guarded by recv: taken from in, not yet handed out
	next int
}

// DialGroup becomes up to size clients of an ibsim. It makes do with fewer, as
// long as ibsim has room for one, and fails as [Dial] does for that one.
func DialGroup(ctx context.Context, opts Options, size int) (*Group, error) {
	first, err := Dial(ctx, opts)
	if err != nil {
		return nil, err
	}
	g := &Group{members: []*Transport{first}, wake: make(chan struct{}, 1)}
	opts.Traps = false // one member hears of them
	for len(g.members) < size {
		t, err := Dial(ctx, opts)
		if err != nil {
			break
		}
		g.members = append(g.members, t)
	}
	for _, t := range g.members {
		g.readers.Add(1)
		go g.read(t)
	}
	return g, nil
}

// Size is the number of clients.
func (g *Group) Size() int { return len(g.members) }

// Node is the id of the node that the clients sit on.
func (g *Group) Node() string { return g.members[0].Node() }

// read takes in what comes to one member until that ends.
func (g *Group) read(t *Transport) {
	defer g.readers.Done()
	var f mad.Frame
	for {
		err := t.Recv(&f)
		g.mu.Lock()
		if err != nil && g.err == nil {
			g.err = err
		}
		if err == nil {
			g.in = append(g.in, f)
		}
		first := len(g.in) == 1 || err != nil
		g.mu.Unlock()
		if first {
			g.signal()
		}
		if err != nil {
			return
		}
	}
}

func (g *Group) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// Send implements [mad.Transport]. Subnet management is spread over the clients
// by transaction id; other classes, whose answers find their way by the
// client, go by the first.
func (g *Group) Send(f *mad.Frame) error {
	const offClass, lastOfTID = 1, 15
	i := 0
	if f.DLID == mad.PermissiveLID && mad.Class(f.Data[offClass]) == mad.ClassSMPDirected {
		i = int(f.Data[lastOfTID]) % len(g.members)
	}
	return g.members[i].Send(f)
}

// Recv implements [mad.Transport].
func (g *Group) Recv(f *mad.Frame) error {
	g.recv.Lock()
	defer g.recv.Unlock()
	for g.next == len(g.out) {
		g.mu.Lock()
		g.in, g.out, g.next = g.out[:0], g.in, 0
		err := g.err
		g.mu.Unlock()
		switch {
		case len(g.out) > 0:
		case err != nil:
			g.signal() // for others that wait
			return err
		default:
			<-g.wake
		}
	}
	*f = g.out[g.next]
	g.next++
	return nil
}

// Close gives the clients' places back to ibsim.
func (g *Group) Close() error {
	errs := make([]error, 0, len(g.members))
	for _, t := range g.members {
		errs = append(errs, t.Close())
	}
	g.readers.Wait()
	return errors.Join(errs...)
}

var _ mad.Transport = (*Group)(nil)
