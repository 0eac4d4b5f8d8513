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

// run asks agents and then does something with each port. All of it runs in one goroutine.
type run struct {
	f          *fabric.Fabric
	opts       Options
	batch      *mad.Batch
	pulse      mad.Pulse
	cancel     context.CancelCauseFunc
	ctx        context.Context
	source     uint16 // LID of the session's port
	ports      []Port
	open       []int // answers that a port waits for
	bad        []bool
	done       int
	each       func(i int, a agent)
	unanswered []Unanswered
	queue      []func()
	room       int
}

func newRun(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, ports []fabric.PortIndex) *run {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{
		f: f, opts: opts, batch: client.NewBatch(ctx), ctx: ctx, cancel: cancel,
		ports: make([]Port, len(ports)), open: make([]int, len(ports)), bad: make([]bool, len(ports)),
		room: 4 * client.Options().Window,
	}
	if f.SMPort != fabric.None {
		r.source = f.Ports[f.EndPortOf(f.SMPort)].LID
	}
	for i, p := range ports {
		r.ports[i].Port = p
	}
	return r
}

// wait asks the agents, a few at a time so that questions need little memory.
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

// pump takes on more of the queue, from its end.
func (r *run) pump() {
	for len(r.queue) > 0 && r.batch.Len() < r.room {
		next := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		next()
	}
}

// agent asks what an agent has, and goes on with the ports that it speaks for.
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
		a := agent{mask: info.CapabilityMask, mask2: info.CapabilityMask2} // of one that refuses: nothing
		r.opts.Known.learn(r.f, end, a)
		each(a)
	})
}

// lost notes ports that cannot be asked.
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

// perf sends a request about port i to its agent.
func (r *run) perf(i int, m mad.Method, a mad.GSIAttribute, take func(*mad.Reply) error) {
	p := &r.ports[i]
	r.open[i]++
	r.ask(r.f.Ports[r.f.EndPortOf(p.Port)].LID, m, a, func(reply *mad.Reply) {
		if err := take(reply); err != nil && !r.bad[i] {
			r.bad[i] = true
			r.opts.Known.forget(r.f, r.f.EndPortOf(p.Port))
			r.unanswered = append(r.unanswered, Unanswered{
				Port: p.Port, Name: r.f.PortName(p.Port), Count: 1, Err: err,
			})
		}
		p.At = time.Now()
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

// good are the ports that answered all they were asked.
func (r *run) good() []Port {
	out := make([]Port, 0, len(r.ports))
	for i := range r.ports {
		if !r.bad[i] {
			out = append(out, r.ports[i])
		}
	}
	return out
}
