// SPDX-License-Identifier: Apache-2.0

package livetrace

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// atOnce is how many pairs are on their way at one time.
const atOnce = 256

// Tracer traces over one client.
type Tracer struct {
	Client *mad.Client
	Fabric *fabric.Fabric // where the sources are

	routes *sweep.Routes
}

// New makes a tracer for the sources of a fabric.
func New(client *mad.Client, f *fabric.Fabric) *Tracer {
	return &Tracer{Client: client, Fabric: f, routes: sweep.NewRoutes(f)}
}

// All follows many pairs and calls visit with each as it ends, in no certain order, in the caller's goroutine. It
// keeps what it reads until it returns, so it shows one moment as well as that can be had.
func (t *Tracer) All(ctx context.Context, pairs []Pair, visit func(i int, p *Path)) error {
	c := crowd{t: t, r: newReader(ctx, t.Client), pairs: pairs, visit: visit}
	c.fill()
	if err := c.r.batch.Wait(); err != nil {
		return err
	}
	return c.failed
}

// crowd is the pairs of one call of All.
type crowd struct {
	t       *Tracer
	r       *reader
	pairs   []Pair
	visit   func(i int, p *Path)
	next    int
	running int
	filling bool
	failed  error
}

// fill starts pairs while there is room. What starts may end at once, and come here again.
func (c *crowd) fill() {
	if c.filling {
		return
	}
	c.filling = true
	for c.running < atOnce && c.next < len(c.pairs) && c.failed == nil {
		i := c.next
		c.next++
		c.running++
		w := &walker{t: c.t, r: c.r, path: Path{Pair: c.pairs[i]}, done: func(p *Path) {
			c.running--
			c.visit(i, p)
			c.fill()
		}}
		c.failed = w.start()
	}
	c.filling = false
}

// walker is on the way for one pair.
type walker struct {
	t    *Tracer
	r    *reader
	path Path
	done func(*Path)

	to   mad.Path // the path to the node that the packet is at
	info mad.NodeInfo

	ended bool
	open  int // questions beside the path that are not answered yet
}

// end ends the walk.
func (w *walker) end(v Verdict, err error) {
	w.path.Verdict, w.path.Err = v, err
	w.ended = true
	w.finish()
}

func (w *walker) finish() {
	if w.ended && w.open == 0 {
		w.done(&w.path)
	}
}

// start looks whether the source is where it was.
func (w *walker) start() error {
	f := w.t.Fabric
	src := f.EndPortOf(w.path.Src)
	to, err := w.t.routes.ToPort(src)
	if err != nil {
		return fmt.Errorf("trace from %s: %w", f.PortName(src), err)
	}
	var info mad.NodeInfo
	w.ask(question{^uint64(0), mad.AttrNodeInfo, uint32(src)}, to, &info, func() {
		if info.NodeGUID != f.Nodes[f.Ports[src].Node].GUID {
			w.end(Moved, nil)
			return
		}
		w.to = to
		w.arrive(info, NoPort)
		if info.Type == mad.NodeSwitch {
			w.lookUp()
		} else {
			w.leaveSource(src)
		}
	})
	return nil
}

// arrive notes that the packet is at a node.
func (w *walker) arrive(info mad.NodeInfo, in int) {
	w.info = info
	w.path.Hops = append(w.path.Hops, Hop{
		GUID: info.NodeGUID, Node: w.t.Fabric.NodeByGUID(info.NodeGUID), Type: info.Type, In: in, Out: NoPort,
	})
}

func (w *walker) hop() *Hop { return &w.path.Hops[len(w.path.Hops)-1] }

// ask asks for what the path depends on: it calls then with the answer decoded, or ends the walk.
func (w *walker) ask(q question, path mad.Path, into mad.Attribute, then func()) {
	w.r.ask(q, path, func(a *answer) {
		if err := a.decode(into); err != nil {
			w.end(Silent, err)
			return
		}
		then()
	})
}

// askHere asks the node that the packet is at.
func (w *walker) askHere(into mad.Attribute, mod uint32, then func()) {
	w.ask(question{w.info.NodeGUID, into.AttrID(), mod}, w.to, into, then)
}

// leaveSource sends the packet from a channel adapter to the switch before it.
func (w *walker) leaveSource(src fabric.PortIndex) {
	port := &w.t.Fabric.Ports[src]
	w.r.ask(question{w.info.NodeGUID, mad.AttrPortInfo, uint32(port.Num)}, w.to, func(a *answer) {
		var info mad.PortInfo
		if err := a.decode(&info); err == nil && w.owned(&info) {
			w.end(Delivered, nil)
			return
		}
		w.crossFirst(src)
	})
}

// crossFirst goes over the link of the source.
func (w *walker) crossFirst(src fabric.PortIndex) {
	port := &w.t.Fabric.Ports[src]
	w.leaveBy(port.Num, func() {
		if w.to.Len() == 0 {
			w.follow(port.Num)
			return
		}
		// An adapter passes no packets on, so the switch is asked by the path that led to the adapter.
		w.to = w.to.Parent()
		in := int(w.lastPort(src))
		var info mad.NodeInfo
		w.ask(question{^uint64(0), mad.AttrNodeInfo, uint32(w.t.Fabric.Ports[src].Peer)}, w.to, &info, func() {
			w.enter(info, in)
		})
	})
}

func (w *walker) lastPort(src fabric.PortIndex) uint8 {
	f := w.t.Fabric
	return f.Ports[f.Ports[src].Peer].Num
}

// leaveBy looks at the port by which the packet goes, and goes on if it is up.
func (w *walker) leaveBy(out uint8, then func()) {
	w.hop().Out = int(out)
	var info mad.PortInfo
	w.askHere(&info, uint32(out), func() {
		w.here().look(&info, out, func(h *Hop) *Link { return &h.Sends })
		if info.PortState != mad.PortActive && info.PortState != mad.PortArmed {
			w.end(LinkDown, nil)
			return
		}
		then()
	})
}

// follow goes over the link of a port.
func (w *walker) follow(out uint8) {
	on, err := w.to.Append(out)
	if err != nil {
		w.end(Silent, err)
		return
	}
	var info mad.NodeInfo
	w.ask(question{w.info.NodeGUID, mad.AttrNodeInfo, uint32(out)}, on, &info, func() {
		w.to = on
		w.enter(info, int(info.LocalPort))
	})
}

// enter comes to a node by one of its ports.
func (w *walker) enter(info mad.NodeInfo, in int) {
	again := false
	for _, h := range w.path.Hops {
		again = again || h.GUID == info.NodeGUID && h.Type == mad.NodeSwitch
	}
	w.arrive(info, in)
	w.here().entered(uint8(in))
	switch {
	case again:
		w.end(Loop, nil)
	case info.Type == mad.NodeSwitch:
		w.lookUp()
	default:
		w.keep(uint8(in))
	}
}

// lookUp reads the entry of the switch for the LID.
func (w *walker) lookUp() {
	var info mad.SwitchInfo
	w.askHere(&info, 0, func() {
		if w.path.LID > info.LinearFDBTop {
			w.end(NoEntry, nil)
			return
		}
		block := w.path.LID / mad.LFTBlock
		var lft mad.LinearForwardingTable
		w.askHere(&lft, uint32(block), func() { w.forward(lft[w.path.LID%mad.LFTBlock]) })
	})
}

// forward does what the entry says.
func (w *walker) forward(entry uint8) {
	switch {
	case entry == fabric.NoPath:
		w.end(NoEntry, nil)
	case entry > w.info.NumPorts:
		w.hop().Out = int(entry)
		w.end(NoSuchPort, nil)
	case entry == 0:
		w.keep(0)
	default:
		w.leaveBy(entry, func() { w.follow(entry) })
	}
}

// keep gives the packet to an end port, and looks whether the LID is its own.
func (w *walker) keep(port uint8) {
	var info mad.PortInfo
	w.askHere(&info, uint32(port), func() {
		if !w.owned(&info) {
			w.end(Misdelivered, nil)
			return
		}
		w.end(Delivered, nil)
	})
}

// owned reports whether the LID is one of a port's.
func (w *walker) owned(info *mad.PortInfo) bool {
	return info.LID != 0 && w.path.LID>>info.LMC == info.LID>>info.LMC
}
