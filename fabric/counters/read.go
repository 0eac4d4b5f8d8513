// SPDX-License-Identifier: Apache-2.0

// Package counters reads the counters of ports and compares readings. The counters count packets, data and errors.
//
// Requests are sent by LID, so the subnet must be routed. Ports that do not answer are reported as [Unanswered].
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

// Options contains settings for reading and clearing counters.
type Options struct {
	SLs fabric.PathSLs // SLs of the subnet's paths; nil for SL 0
	// Progress, if not nil, is called regularly by the reading goroutine with the number of finished ports and the
	// number of all ports.
	Progress func(done, todo int)
	// What contains the counters to read; 0 means all counters. Read does not request an attribute that has none of
	// these counters.
	What Set
	// Known, if not nil, keeps the capabilities of agents between readings. They are then requested only once.
	Known *Known
	// Details makes Read also read the details of receive errors, with one more MAD per port.
	Details bool
}

// Port is the counters of one port.
type Port struct {
	Port fabric.PortIndex
	At   time.Time     // of the last answer
	Took time.Duration // from the first request to the last answer
	// Values holds the values of the counters in Has; all other values are 0. Counters in Wide have 64 bits. A counter
	// with fewer bits stops at its greatest value, and a 64-bit counter has stopped if all its bits are set. Stopped
	// holds the counters that have stopped.
	Values  Values
	Has     Set
	Wide    Set
	Stopped Set
	// Details are the details of receive errors. It is nil if they were not requested or if the agent refuses to read
	// them.
	Details *mad.PortRcvErrorDetails
}

// Reading is the counters of ports.
type Reading struct {
	Fabric     *fabric.Fabric
	Ports      []Port // the ports that answered, in the requested order
	Unanswered []Unanswered
}

// Merge adds counters of ports to the reading. If the reading has the port, counters that it lacks are added and others
// are replaced.
func (r *Reading) Merge(ports []Port) {
	at := make(map[fabric.PortIndex]int, len(r.Ports))
	for i := range r.Ports {
		at[r.Ports[i].Port] = i
	}
	for _, p := range ports {
		i, ok := at[p.Port]
		if !ok {
			r.Ports = append(r.Ports, p)
			continue
		}
		old := &r.Ports[i]
		for c := range p.Has.All() {
			old.Values[c] = p.Values[c]
		}
		old.At, old.Has = p.At, old.Has|p.Has
		old.Wide, old.Stopped = old.Wide&^p.Has|p.Wide, old.Stopped&^p.Has|p.Stopped
	}
}

// Unanswered reports that the counters of a port, or of all ports of a node, could not be read.
type Unanswered struct {
	Port  fabric.PortIndex // the first requested port if Whole is set
	Name  string
	Whole bool // the agent of the node did not answer, so none of its Count ports was read
	Count int
	Err   error
}

// String describes what is missing, for example "leaf-01/3: counters: no answer after 3 tries of 200ms".
func (h Unanswered) String() string { return fmt.Sprintf("%s: counters: %v", h.Name, h.Why()) }

// Why returns Err without the request.
func (h Unanswered) Why() error {
	if re := (*mad.RequestError)(nil); errors.As(h.Err, &re) {
		return re.Err
	}
	return h.Err
}

// ErrNoLID reports a port that has no LID and therefore cannot be read.
var ErrNoLID = errors.New("no LID")

// AllPorts returns the ports that are read by default: all ports of the switches in the subnet, and the end ports of
// the other nodes. It includes port 0 of a switch only if that port is enhanced.
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

// Read reads the counters of the given ports, or of [AllPorts] if none are given. It sends one MAD per agent (a switch
// or an end port) and two MADs per port. It sends only one MAD per port if a single attribute has all requested
// counters. Read fails if ctx ends.
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
	return &Reading{Fabric: f, Ports: r.answeredPorts(), Unanswered: r.unanswered}, nil
}

// read requests the counters of one port.
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
	if p.Has == 0 && !r.opts.Details {
		r.finished()
	}
	if narrow != 0 {
		r.readNarrow(i, num, narrow)
	}
	if p.Wide != 0 {
		r.readWide(i, num)
	}
	if r.opts.Details {
		r.readDetails(i, num)
	}
}

func (r *run) readDetails(i int, num uint8) {
	r.askPort(i, mad.MethodGet, &mad.PortRcvErrorDetails{PortSelect: num}, func(reply *mad.Reply) error {
		details := &mad.PortRcvErrorDetails{}
		err := reply.Decode(details)
		if err == nil {
			r.ports[i].Details = details
		}
		if status := mad.Status(0); errors.As(err, &status) {
			return nil // the agent refuses
		}
		return err
	})
}

func (r *run) readNarrow(i int, num uint8, which Set) {
	p := &r.ports[i]
	r.askPort(i, mad.MethodGet, &mad.PortCounters{PortSelect: num}, func(reply *mad.Reply) error {
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
	r.askPort(i, mad.MethodGet, &mad.PortCountersExtended{PortSelect: num}, func(reply *mad.Reply) error {
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

// Ticks reads the Tick of PortSamplesControl of ports: the unit of their XmitWait. The result lacks ports that did not
// answer or refused. Ticks fails if ctx ends.
func Ticks(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options,
	ports ...fabric.PortIndex) (map[fabric.PortIndex]uint8, error) {
	ticks := make(map[fabric.PortIndex]uint8, len(ports))
	if len(ports) == 0 {
		return ticks, nil
	}
	r := newRun(ctx, client, f, opts, ports)
	r.each = func(i int, _ agent) {
		port := ports[i]
		ask := &mad.PortSamplesControl{PortSelect: f.Ports[port].Num}
		r.askPort(i, mad.MethodGet, ask, func(reply *mad.Reply) error {
			var control mad.PortSamplesControl
			err := reply.Decode(&control)
			if err == nil {
				ticks[port] = control.Tick
			}
			return err
		})
	}
	if err := r.wait(); err != nil {
		return nil, fmt.Errorf("read the ticks of XmitWait: %w", err)
	}
	return ticks, nil
}

// Beyond returns the error counters that exceed their thresholds, like the output of ibqueryerrors. If all thresholds
// are 0, it returns all error counters that are not 0. The threshold file of infiniband-diags has only zeros.
func (p *Port) Beyond(thresholds *Values) Set {
	var s Set
	for c := range (p.Has & Errors).All() {
		if p.Values[c] > thresholds[c] {
			s |= Of(c)
		}
	}
	return s
}

// Clear sets counters to 0 on the given ports, or on [AllPorts] if none are given. Clear writes to the subnet, so the
// counters also restart for other observers. QP1Dropped can be cleared only as a 64-bit counter. Counters that a port
// does not have are ignored. Clear returns the ports that did not clear their counters, and fails if ctx ends.
func Clear(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, what Set,
	ports ...fabric.PortIndex) ([]Unanswered, error) {
	if len(ports) == 0 {
		ports = AllPorts(f)
	}
	r := newRun(ctx, client, f, opts, ports)
	r.each = func(i int, a agent) { r.clear(i, a, what) }
	if err := r.wait(); err != nil {
		return r.unanswered, fmt.Errorf("clear counters: %w", err)
	}
	return r.unanswered, nil
}

// clear clears counters of port i in both attributes, PortCounters and PortCountersExtended.
func (r *run) clear(i int, a agent, what Set) {
	var narrow, wide uint64
	for c := range (what & a.narrow()).All() {
		narrow |= table[c].select1
	}
	for c := range (what & a.wide()).All() {
		wide |= table[c].select2
	}
	num := r.f.Ports[r.ports[i].Port].Num
	done := func(reply *mad.Reply) error { return reply.Err }
	if narrow != 0 {
		r.askPort(i, mad.MethodSet, &mad.PortCounters{
			PortSelect: num, CounterSelect: uint16(narrow), CounterSelect2: uint8(narrow >> 16),
		}, done)
	}
	if wide != 0 {
		r.askPort(i, mad.MethodSet, &mad.PortCountersExtended{PortSelect: num, CounterSelect: uint16(wide),
			CounterSelect2: uint32(wide >> 16)}, done)
	}
	if narrow|wide == 0 {
		r.finished()
	}
}
