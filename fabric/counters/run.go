// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// run sends requests to agents. It calls each for every port once the capabilities of the port's agent are known. It
// runs in one goroutine.
type run struct {
	f          *fabric.Fabric
	opts       Options
	batch      *mad.Batch
	pulse      mad.Pulse
	cancel     context.CancelCauseFunc
	ctx        context.Context
	source     uint16 // LID of the session's port
	ports      []Port
	open       []int       // outstanding answers by port
	began      []time.Time // first requests by port
	bad        []bool
	done       int
	each       func(i int, a agent)
	unanswered []Unanswered
	queue      []func()
	limit      int
}

func newRun(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, ports []fabric.PortIndex) *run {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{
		f: f, opts: opts, batch: client.NewBatch(ctx), ctx: ctx, cancel: cancel,
		ports: make([]Port, len(ports)), open: make([]int, len(ports)),
		began: make([]time.Time, len(ports)), bad: make([]bool, len(ports)),
		limit: 4 * client.Options().Window,
	}
	if f.SMPort != fabric.None {
		r.source = f.Ports[f.EndPortOf(f.SMPort)].LID
	}
	for i, p := range ports {
		r.ports[i].Port = p
	}
	return r
}

// wait sends the requests and waits for the answers. It limits the number of outstanding requests, to save memory.
func (r *run) wait() error {
	defer r.cancel(nil)
	byAgent := map[fabric.PortIndex][]int{}
	var agents []fabric.PortIndex
	for i := range r.ports {
		e := r.f.EndPortOf(r.ports[i].Port)
		if byAgent[e] == nil {
			agents = append(agents, e)
		}
		byAgent[e] = append(byAgent[e], i)
	}
	for _, e := range agents {
		r.queue = append(r.queue, func() { r.agent(e, byAgent[e]) })
	}
	slices.Reverse(r.queue)
	r.pump()
	err := r.batch.Wait()
	if r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return err
}

// pump starts requests from the end of the queue, up to the limit.
func (r *run) pump() {
	for len(r.queue) > 0 && r.batch.Len() < r.limit {
		next := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		next()
	}
}

// agent requests the capabilities of the agent at an end port, and queues the agent's ports.
func (r *run) agent(end fabric.PortIndex, ports []int) {
	lid := r.f.Ports[end].LID
	if lid == 0 {
		r.lost(end, ports, ErrNoLID)
		return
	}
	each := func(a agent) {
		for _, i := range slices.Backward(ports) {
			r.queue = append(r.queue, func() { r.each(i, a) })
		}
	}
	if a, known := r.opts.Known.find(r.f, end); known {
		each(a)
		return
	}
	r.ask(lid, mad.MethodGet, &mad.ClassPortInfo{}, func(reply *mad.Reply) {
		var info mad.ClassPortInfo
		var status mad.Status
		err := reply.Decode(&info)
		if err != nil && !errors.As(err, &status) {
			r.lost(end, ports, err)
			return
		}
		a := agent{mask: info.CapabilityMask, mask2: info.CapabilityMask2} // zero if the agent refuses
		r.opts.Known.learn(r.f, end, a)
		each(a)
	})
}

// lost records ports that cannot be read.
func (r *run) lost(end fabric.PortIndex, ports []int, err error) {
	h := Unanswered{Port: r.ports[ports[0]].Port, Whole: true, Count: len(ports), Err: err}
	h.Name = r.f.PortName(end)
	if node := r.f.Ports[end].Node; r.f.Nodes[node].IsSwitch() {
		h.Name = r.f.NodeName(node)
	}
	r.unanswered = append(r.unanswered, h)
	for _, i := range ports {
		r.bad[i] = true
		r.finished()
	}
}

// askPort sends a request about port i to the port's agent.
func (r *run) askPort(i int, m mad.Method, a mad.GSIAttribute, take func(*mad.Reply) error) {
	p := &r.ports[i]
	if r.open[i]++; r.began[i].IsZero() {
		r.began[i] = time.Now()
	}
	r.ask(r.f.Ports[r.f.EndPortOf(p.Port)].LID, m, a, func(reply *mad.Reply) {
		if err := take(reply); err != nil && !r.bad[i] {
			r.bad[i] = true
			r.opts.Known.forget(r.f, r.f.EndPortOf(p.Port))
			r.unanswered = append(r.unanswered, Unanswered{
				Port: p.Port, Name: r.f.PortName(p.Port), Count: 1, Err: err,
			})
		}
		p.At = time.Now()
		p.Took = p.At.Sub(r.began[i])
		if r.open[i]--; r.open[i] == 0 {
			r.finished()
		}
	})
}

func (r *run) ask(lid uint16, m mad.Method, a mad.GSIAttribute, then func(*mad.Reply)) {
	var sl uint8
	if r.opts.SLs != nil {
		sl = r.opts.SLs.SL(r.source, lid)
	}
	r.batch.Go(mad.PerfRequest(m, lid, sl, a), func(reply *mad.Reply) {
		r.pulse.Observe(r.batch, reply.Err, r.cancel)
		then(reply)
		r.pump()
	})
}

const reportEvery = 512

func (r *run) finished() {
	r.done++
	if r.opts.Progress != nil && (r.done%reportEvery == 0 || r.done == len(r.ports)) {
		r.opts.Progress(r.done, len(r.ports))
	}
}

// answeredPorts returns the ports for which every request was answered.
func (r *run) answeredPorts() []Port {
	out := make([]Port, 0, len(r.ports))
	for i := range r.ports {
		if !r.bad[i] {
			out = append(out, r.ports[i])
		}
	}
	return out
}

// agent is the capabilities of an agent.
type agent struct {
	mask  uint16
	mask2 uint32
}

func (a agent) extended() bool {
	return a.mask&(mad.PerfExtendedWidth|mad.PerfExtendedWidthOnly) != 0
}

// wide returns the counters that the agent has in PortCountersExtended.
func (a agent) wide() Set {
	if !a.extended() {
		return 0
	}
	s := Of(XmitData, RcvData, XmitPackets, RcvPackets)
	if a.mask&mad.PerfExtendedWidth != 0 {
		s |= Of(UnicastXmitPackets, UnicastRcvPackets, MulticastXmitPackets, MulticastRcvPackets)
	}
	if a.mask2&mad.PerfAdditional != 0 {
		s |= Errors | Of(QP1Dropped)
	}
	return s
}

// narrow returns the counters that the agent has in PortCounters.
func (a agent) narrow() Set {
	s := Errors | Of(QP1Dropped, XmitData, RcvData, XmitPackets, RcvPackets)
	if a.mask&mad.PerfXmitWait == 0 {
		s &^= Of(XmitWait)
	}
	return s
}

// Known caches the capabilities of agents by the GUID of the end port. If a request to an agent gets no answer, the
// capabilities of the agent are requested again next time. Known is for one goroutine. The zero value is empty.
type Known struct{ agents map[uint64]agent }

func (k *Known) find(f *fabric.Fabric, end fabric.PortIndex) (agent, bool) {
	if k == nil {
		return agent{}, false
	}
	a, known := k.agents[f.Ports[end].GUID]
	return a, known
}

func (k *Known) learn(f *fabric.Fabric, end fabric.PortIndex, a agent) {
	if k == nil {
		return
	}
	if k.agents == nil {
		k.agents = map[uint64]agent{}
	}
	k.agents[f.Ports[end].GUID] = a
}

func (k *Known) forget(f *fabric.Fabric, end fabric.PortIndex) {
	if k != nil {
		delete(k.agents, f.Ports[end].GUID)
	}
}
