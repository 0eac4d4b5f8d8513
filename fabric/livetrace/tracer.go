// SPDX-License-Identifier: Apache-2.0

// Package livetrace traces paths through the current subnet, hop by hop. It uses the tables that the switches hold now,
// and reads them by directed route. A trace uses an earlier sweep only to find the source. It identifies every node on
// the path. So it detects a cable that was moved or a table that was written since the sweep.
//
// Pairs that are traced together share the data that was read, so no data of a switch are read twice.
package livetrace

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// atOnce is the maximum number of pairs that are traced concurrently.
const atOnce = 256

// Tracer traces paths over a client.
type Tracer struct {
	Client *mad.Client
	Fabric *fabric.Fabric // contains the sources

	routes *sweep.Routes
}

// New returns a tracer. It finds the sources of paths in f, the result of an earlier sweep.
func New(client *mad.Client, f *fabric.Fabric) *Tracer {
	return &Tracer{Client: client, Fabric: f, routes: sweep.NewRoutes(f)}
}

// All traces pairs. It calls the function visit for each pair when the trace of the pair ends, in any order, in the
// caller's goroutine. Data that several pairs need are read only once, so the paths show a single moment as far as
// possible.
func (t *Tracer) All(ctx context.Context, pairs []Pair, visit func(i int, p *Path)) error {
	c := group{t: t, r: newReader(ctx, t.Client), pairs: pairs, visit: visit}
	c.fill()
	if err := c.r.batch.Wait(); err != nil {
		return err
	}
	return c.failed
}

// group holds the pairs of a call of All.
type group struct {
	t       *Tracer
	r       *reader
	pairs   []Pair
	visit   func(i int, p *Path)
	next    int
	running int
	filling bool
	failed  error
}

// fill starts traces of further pairs up to the limit. A trace may end at once and call fill again.
func (c *group) fill() {
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

// walker traces one pair.
type walker struct {
	t    *Tracer
	r    *reader
	path Path
	done func(*Path)

	to   mad.Path // path to the current node
	info mad.NodeInfo

	ended bool
	open  int // unanswered requests on which the path does not depend
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

// start checks that the source is still where the earlier sweep found it, and begins the trace there.
func (w *walker) start() error {
	f := w.t.Fabric
	src := f.EndPortOf(w.path.Src)
	to, err := w.t.routes.ToPort(src)
	if err != nil {
		return fmt.Errorf("trace from %s: %w", f.PortName(src), err)
	}
	var info mad.NodeInfo
	w.ask(request{^uint64(0), mad.AttrNodeInfo, uint32(src)}, to, &info, func() {
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

// arrive adds the node that the packet reaches to the path.
func (w *walker) arrive(info mad.NodeInfo, in int) {
	w.info = info
	w.path.Hops = append(w.path.Hops, Hop{
		GUID: info.NodeGUID, Node: w.t.Fabric.NodeByGUID(info.NodeGUID), Type: info.Type, In: in, Out: NoPort,
	})
}

func (w *walker) hop() *Hop { return &w.path.Hops[len(w.path.Hops)-1] }

// ask reads an attribute on which the rest of the path depends. It decodes the answer and calls the function then.
// Without a valid answer it ends the walk.
func (w *walker) ask(q request, path mad.Path, into mad.Attribute, then func()) {
	w.r.ask(q, path, func(a *answer) {
		if err := a.decode(into); err != nil {
			w.end(Silent, err)
			return
		}
		then()
	})
}

// askHere reads an attribute of the current node, see ask.
func (w *walker) askHere(into mad.Attribute, mod uint32, then func()) {
	w.ask(request{w.info.NodeGUID, into.AttrID(), mod}, w.to, into, then)
}

// leaveSource sends the packet from the source, a channel adapter, to the adapter's switch. If the LID belongs to the
// source itself, the trace ends.
func (w *walker) leaveSource(src fabric.PortIndex) {
	port := &w.t.Fabric.Ports[src]
	w.r.ask(request{w.info.NodeGUID, mad.AttrPortInfo, uint32(port.Num)}, w.to, func(a *answer) {
		var info mad.PortInfo
		if err := a.decode(&info); err == nil && w.owned(&info) {
			w.end(Delivered, nil)
			return
		}
		w.crossFirst(src)
	})
}

// crossFirst follows the link of the source.
func (w *walker) crossFirst(src fabric.PortIndex) {
	port := &w.t.Fabric.Ports[src]
	w.leaveBy(port.Num, func() {
		if w.to.Len() == 0 {
			w.follow(port.Num)
			return
		}
		// An adapter forwards no packets. So the requests to the switch take the directed route to the adapter without
		// its last hop.
		w.to = w.to.Parent()
		in := int(w.lastPort(src))
		var info mad.NodeInfo
		w.ask(request{^uint64(0), mad.AttrNodeInfo, uint32(w.t.Fabric.Ports[src].Peer)}, w.to, &info, func() {
			w.enter(info, in)
		})
	})
}

func (w *walker) lastPort(src fabric.PortIndex) uint8 {
	f := w.t.Fabric
	return f.Ports[f.Ports[src].Peer].Num
}

// leaveBy checks the output port and calls the function then if the port is up.
func (w *walker) leaveBy(out uint8, then func()) {
	w.hop().Out = int(out)
	var info mad.PortInfo
	w.askHere(&info, uint32(out), func() {
		w.here().recordLink(&info, out, func(h *Hop) *Link { return &h.Sends })
		if info.PortState != mad.PortActive && info.PortState != mad.PortArmed {
			w.end(LinkDown, nil)
			return
		}
		then()
	})
}

// follow crosses the link of a port.
func (w *walker) follow(out uint8) {
	on, err := w.to.Append(out)
	if err != nil {
		w.end(Silent, err)
		return
	}
	var info mad.NodeInfo
	w.ask(request{w.info.NodeGUID, mad.AttrNodeInfo, uint32(out)}, on, &info, func() {
		w.to = on
		w.enter(info, int(info.LocalPort))
	})
}

// enter continues the trace at a node, which the packet enters through a port.
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
		w.deliverTo(uint8(in))
	}
}

// lookUp reads the switch's forwarding table entry for the LID.
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

// forward executes a table entry.
func (w *walker) forward(entry uint8) {
	switch {
	case entry == fabric.NoPath:
		w.end(NoEntry, nil)
	case entry > w.info.NumPorts:
		w.hop().Out = int(entry)
		w.end(NoSuchPort, nil)
	case entry == 0:
		w.deliverTo(0)
	default:
		w.leaveBy(entry, func() { w.follow(entry) })
	}
}

// deliverTo delivers the packet to an end port of the current node. It checks whether the port has the LID.
func (w *walker) deliverTo(port uint8) {
	var info mad.PortInfo
	w.askHere(&info, uint32(port), func() {
		if !w.owned(&info) {
			w.end(Misdelivered, nil)
			return
		}
		w.end(Delivered, nil)
	})
}

// owned reports whether the LID belongs to the port with this PortInfo.
func (w *walker) owned(info *mad.PortInfo) bool {
	return info.LID != 0 && w.path.LID>>info.LMC == info.LID>>info.LMC
}

// request identifies an attribute of a node. For NodeInfo, guid identifies the previous node on the path, and mod is
// the port of that node that leads to the node.
type request struct {
	guid uint64
	attr mad.AttrID
	mod  uint32
}

// answer is the result of a request, with the callbacks that wait for it.
type answer struct {
	ended   bool
	data    [mad.DataSize]byte
	err     error
	waiting []func(*answer)
}

func (a *answer) decode(into mad.Attribute) error {
	if a.err != nil {
		return a.err
	}
	return into.UnmarshalBinary(a.data[:])
}

// reader sends every request once.
type reader struct {
	batch   *mad.Batch
	answers map[request]*answer
}

func newReader(ctx context.Context, client *mad.Client) *reader {
	return &reader{batch: client.NewBatch(ctx), answers: map[request]*answer{}}
}

// ask sends a request and calls the function then with the answer. If the request was already sent, ask uses the same
// answer. If the answer is known, ask calls the function then immediately.
func (r *reader) ask(q request, path mad.Path, then func(*answer)) {
	a, ok := r.answers[q]
	if ok && a.ended {
		then(a)
		return
	}
	if ok {
		a.waiting = append(a.waiting, then)
		return
	}
	a = &answer{waiting: []func(*answer){then}}
	r.answers[q] = a
	req := mad.Request{Attr: q.attr, Mod: q.mod, Path: path}
	if q.attr == mad.AttrNodeInfo {
		req.Mod = 0
	}
	r.batch.Go(req, func(reply *mad.Reply) {
		a.ended, a.data, a.err = true, reply.Data, reply.Err
		for _, then := range a.waiting {
			then(a)
		}
		a.waiting = nil
	})
}

// spot is a hop of a walk. The walk may have continued to later hops.
type spot struct {
	w    *walker
	at   int // index of the hop
	to   mad.Path
	info mad.NodeInfo
}

func (w *walker) here() spot { return spot{w, len(w.path.Hops) - 1, w.to, w.info} }

// ask reads an attribute on which the rest of the path does not depend. The walk continues, but does not end before the
// answer. Errors are ignored.
func (s spot) ask(attr mad.AttrID, num uint8, into mad.Attribute, then func()) {
	s.w.open++
	s.w.r.ask(request{s.info.NodeGUID, attr, uint32(num)}, s.to, func(a *answer) {
		if a.decode(into) == nil {
			then()
		}
		s.w.open--
		s.w.finish()
	})
}

// entered reads the link of the input port.
func (s spot) entered(in uint8) {
	var info mad.PortInfo
	s.ask(mad.AttrPortInfo, in, &info, func() {
		s.recordLink(&info, in, func(h *Hop) *Link { return &h.Receives })
	})
}

// recordLink records the state of a port's link. Whether a switch port runs at one of the later speeds depends on the
// capability masks of port 0. If the link uses such a speed, recordLink also reads port 0.
func (s spot) recordLink(info *mad.PortInfo, num uint8, linkOf func(*Hop) *Link) {
	link := func() *Link { return linkOf(&s.w.path.Hops[s.at]) }
	*link() = Link{info.PortState, info.LinkWidthActive, info.SpeedActive(info, false), info.NeighborMTU}
	extended := info.LinkSpeedExtActive != 0 || info.LinkSpeedExt2Active != 0
	switch {
	case extended && s.info.Type == mad.NodeSwitch && num != 0:
		port := *info
		var zero mad.PortInfo
		s.ask(mad.AttrPortInfo, 0, &zero, func() { link().Speed = port.SpeedActive(&zero, false) })
	case !extended && fabric.MayBeFDR10(info, s.info.VendorID, s.info.DeviceID):
		var more mad.MellanoxExtendedPortInfo
		s.ask(mad.AttrMellanoxExtendedPortInfo, num, &more, func() {
			if more.FDR10() {
				link().Speed = mad.SpeedFDR10
			}
		})
	}
}
