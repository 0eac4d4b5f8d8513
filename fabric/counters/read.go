// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Options say how to reach agents.
type Options struct {
	SLs fabric.PathSLs // those of the subnet's paths; nil is SL 0 everywhere
	// Progress, where set, is called now and then with the number of ports that
	// are done and that are to do, by the goroutine that reads.
	Progress func(done, todo int)
	// What is read, all for none. Values that no counter in it is among are not asked for.
	What Set
	// Known, where set, has what agents can do from one reading to the next, so that they are asked once.
	Known *Known
}

// Port is what one port has counted.
type Port struct {
	Port fabric.PortIndex // of the fabric
	At   time.Time        // of the last answer
	// Values are the counters in Has; others are 0. They are 64 bits wide where they are in Wide; else they
	// stop at their greatest value, as those in Stopped have. What stands at 64 ones has stopped, too.
	Values  Values
	Has     Set
	Wide    Set
	Stopped Set
}

// Reading is what ports had counted at some time.
type Reading struct {
	Fabric     *fabric.Fabric
	Ports      []Port       // those that answered, in the order asked for
	Unanswered []Unanswered // what did not answer
}

// Unanswered is a port, or all ports of a node, whose counters are missing.
type Unanswered struct {
	Port  fabric.PortIndex // the first one asked for where Whole is set
	Name  string
	Whole bool // the agent of the node did not answer, and none of its Count ports was asked
	Count int
	Err   error
}

// String says what is missing: "leaf-01/3: counters: no answer after 3 tries of 200ms".
func (h Unanswered) String() string { return fmt.Sprintf("%s: counters: %v", h.Name, h.Why()) }

// Why returns Err without what was asked.
func (h Unanswered) Why() error {
	if re := (*mad.RequestError)(nil); errors.As(h.Err, &re) {
		return re.Err
	}
	return h.Err
}

// ErrNoLID says that a port cannot be asked, as it has no LID.
var ErrNoLID = errors.New("no LID")

// AllPorts are the ports that are read where none is named: all ports of the switches in the subnet, port 0
// only where it is an enhanced one, and the end ports of the other nodes.
func AllPorts(f *fabric.Fabric) []fabric.PortIndex {
	var ports []fabric.PortIndex
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if !n.InSubnet {
			continue
		}
		for p := range n.Slots() {
			zero := f.Ports[p].Num == 0
			if n.IsSwitch() && (!zero || n.EnhancedPort0) || !n.IsSwitch() && f.Ports[p].LID != 0 {
				ports = append(ports, p)
			}
		}
	}
	return ports
}

// Read reads the counters of ports, of [AllPorts] where none is given. It takes a MAD an agent, that is a
// switch or an end port, and two a port, one where one has all that is asked for. It fails where ctx ends.
func Read(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, ports ...fabric.PortIndex) (*Reading,
	error) {
	if len(ports) == 0 {
		ports = AllPorts(f)
	}
	r := newRun(ctx, client, f, opts, ports)
	r.each = r.read
	if err := r.wait(); err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return &Reading{Fabric: f, Ports: r.good(), Unanswered: r.unanswered}, nil
}

// read asks for the counters of one port.
func (r *run) read(i int, a agent) {
	p := &r.ports[i]
	what := r.opts.What
	if what == 0 {
		what = All
	}
	p.Wide = a.wide() & what
	narrow := a.narrow() & what &^ p.Wide
	p.Has = p.Wide | narrow
	num := r.f.Ports[p.Port].Num
	if p.Has == 0 {
		r.finished()
	}
	if narrow != 0 {
		r.readNarrow(i, num, narrow)
	}
	if p.Wide != 0 {
		r.readWide(i, num)
	}
}

func (r *run) readNarrow(i int, num uint8, which Set) {
	p := &r.ports[i]
	r.perf(i, mad.MethodGet, &mad.PortCounters{PortSelect: num}, func(reply *mad.Reply) error {
		var counters mad.PortCounters
		if err := reply.Decode(&counters); err != nil {
			return err
		}
		for c := range which.All() {
			p.Values[c] = table[c].narrow(&counters)
			if p.Values[c] == 1<<table[c].bits-1 {
				p.Stopped |= Of(c)
			}
		}
		return nil
	})
}

func (r *run) readWide(i int, num uint8) {
	p := &r.ports[i]
	r.perf(i, mad.MethodGet, &mad.PortCountersExtended{PortSelect: num}, func(reply *mad.Reply) error {
		var counters mad.PortCountersExtended
		if err := reply.Decode(&counters); err != nil {
			return err
		}
		for c := range p.Wide.All() {
			p.Values[c] = table[c].wide(&counters)
			if p.Values[c] == math.MaxUint64 {
				p.Stopped |= Of(c)
			}
		}
		return nil
	})
}
