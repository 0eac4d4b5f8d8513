// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// mostUnanswered is the number of consecutive unanswered requests after which no more are sent to a node.
const mostUnanswered = 4

// reportEvery is the number of steps between two calls of Options.Progress.
const reportEvery = 256

// each calls the function begin with the numbers 0 to n-1. It calls it each time that another request can be sent. It
// returns when all requests of begin and of their callbacks have ended. Once the context ends, it makes no more calls.
func (a *applier) each(n int, begin func(i int)) {
	if a.fatal != nil {
		return
	}
	a.next, a.n, a.begin = 0, n, begin
	a.pump()
	if err := a.batch.Wait(); a.fatal == nil {
		a.fatal = err
	}
	if a.fatal == nil {
		a.fatal = a.ctx.Err()
	}
}

func (a *applier) pump() {
	for a.next < a.n && a.batch.Len() < a.limit && a.ctx.Err() == nil && a.fatal == nil {
		i := a.next
		a.next++
		a.begin(i)
	}
}

// ask sends a request to the node of a port, unless the node no longer responds. The callback ok receives a valid
// answer. After any other answer, ask calls the function bad, if set. If the function bad is nil or returns false, ask
// records a failure of the node, which ends the step.
func (a *applier) ask(port fabric.PortIndex, req mad.Request, ok func(*mad.Reply), bad func() bool) {
	node := a.f.Ports[port].Node
	if a.unanswered[node] >= mostUnanswered {
		a.fail(port, errSilent)
		return
	}
	req.Path, _ = a.routes.ToPort(port) // checked by newApplier
	a.report.Requests++
	if req.Method == mad.MethodSet {
		a.report.Sets++
	}
	a.batch.Go(req, func(r *mad.Reply) {
		a.pulse.Observe(a.batch, r.Err, func(err error) { a.fatal = err })
		if errors.Is(r.Err, mad.ErrTimeout) {
			a.unanswered[node] = min(a.unanswered[node]+1, mostUnanswered)
		} else {
			a.unanswered[node] = 0
		}
		switch {
		case r.Err == nil:
			ok(r)
		case bad == nil || !bad():
			a.fail(port, r.Err)
		}
		a.pump()
	})
}

// fail records a failed step.
func (a *applier) fail(port fabric.PortIndex, err error) {
	node := a.f.Ports[port].Node
	i, known := a.failed[node]
	if !known {
		i = len(a.report.Failed)
		a.failed[node] = i
		a.report.Failed = append(a.report.Failed, Failure{
			Node: a.f.NodeName(node), GUID: a.f.Nodes[node].GUID, Err: err,
		})
	}
	a.report.Failed[i].Count++
	a.step()
}

// wrote records a finished step.
func (a *applier) wrote(t *task) {
	t.done = true
	a.at = a.f.Ports[t.Target(a.f)].Node
	*a.report.Written.of(t.Item)++
	a.step()
}

func (a *applier) step() {
	a.steps++
	a.now.Done = min(a.now.Done+1, a.now.Total)
	a.reportProgress(false)
	if a.opts.Progress != nil && (a.steps%reportEvery == 0 || a.steps == a.allSteps) {
		a.opts.Progress(a.steps, a.allSteps)
	}
}
