// SPDX-License-Identifier: Apache-2.0

// Package congestion shows where congestion begins, and which flows and jobs it affects.
package congestion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/traffic"
)

// Feature is the command congestion.
var Feature = feature.Feature{Name: "congestion", Keys: []feature.Key{
	{Name: "congestion", Keys: "X", Help: "find where congestion begins, and the flows and jobs that it affects"},
}, Commands: []feature.Command{{
	Path:    "congestion",
	Group:   feature.GroupLook,
	Summary: "Find where congestion begins, and its victims",
	Help: "A port waits if it has data and no credit (PortXmitWait). congestion follows waiting ports over the " +
		"forwarding tables\nup to the roots: a full link, a slow receiver, a bad cable, or a ring of ports that wait " +
		"for each other. EXPLAINS is the\nshare of the waiting of all ports. VICTIMS are flows that wait for a root " +
		"that they do not use. Flows are estimated from\nthe data that ports sent. The counters are read twice, or " +
		"come from the records (since=). WAIT is relative if the unit of\nPortXmitWait is not known for the device.",
	Options: []lang.Option{
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "recorded counters from this time; " + when.Help},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "recorded counters up to this time (default now)"},
		{Name: "limit", Kind: lang.KindInt, Summary: "number of listed ports and flows (default 20)"},
	},
	Examples: []string{"congestion", "hosts job1 leaf-01; congestion limit=5"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// result is the answer.
type result struct {
	Since   time.Time `key:"since"`
	Until   time.Time `key:"until"`
	Waiting int       `key:"waiting" help:"ports that wait"`
	Count   int       `key:"roots" help:"places where congestion begins"`
	Flows   int       `key:"flows" help:"pairs of hosts with traffic, estimated"`

	roots []root
	ports []port
	users []user
	limit int
	// unread is set if a part that was not read may wait.
	unread bool
}

// root is a row: a place where congestion begins.
type root struct {
	Number    int          `key:"root" name:"ROOT"`
	Cause     string       `key:"cause" name:"CAUSE" help:"oversubscribed link, slow receiver, bad cable, ring"`
	Port      answer.Value `key:"port" name:"PORT" kind:"place" help:"the port that sends; the first one of a ring"`
	To        answer.Value `key:"to" name:"TO" kind:"place"`
	Ring      answer.Value `key:"ring" kind:"list" help:"the ports of a ring"`
	amounts   `prefix:""`
	Share     answer.Value `key:"explains" kind:"float" help:"share of the waiting of all ports, from 0 to 1"`
	ShareText string       `name:"EXPLAINS"`
	Tree      int          `key:"tree" name:"TREE" help:"ports that wait for it"`
	Through   int          `key:"through" name:"FLOWS" help:"flows over it"`
	Victims   int          `key:"victims" name:"VICTIMS" help:"flows that wait for it and do not use it"`
	Jobs      answer.Value `key:"jobs" name:"JOBS" kind:"texts" help:"jobs with flows over it"`
	Affected  answer.Value `key:"jobs_affected" name:"VICTIM JOBS" kind:"texts" help:"other jobs with victims"`
	Evidence  string       `key:"evidence" name:"EVIDENCE"`
	answer.Lead
}

// amounts are the load and the wait of a port.
type amounts struct {
	Load      answer.Value `key:"load" kind:"float" help:"data rate used, from 0 to 1"`
	LoadText  string       `name:"LOAD"`
	Wait      answer.Value `key:"wait" kind:"float" help:"share of time with data and no credit, from 0 to 1"`
	WaitText  string       `name:"WAIT"`
	Relative  bool         `key:"wait_relative" help:"the unit of PortXmitWait is not known"`
	Saturated bool         `key:"saturated" help:"a counter reached its maximum"`
}

// port is a row: a port that waits.
type port struct {
	Port    answer.Value `key:"port" name:"PORT" kind:"place"`
	To      answer.Value `key:"to" name:"TO" kind:"place"`
	amounts `prefix:""`
	Roots   answer.Value `key:"roots" kind:"list" help:"the roots for which it waits"`
	For     string       `name:"ROOTS"`
	answer.Lead
}

// user is a row: a flow over a root, or a victim.
type user struct {
	Root int          `key:"root" name:"ROOT"`
	Role string       `key:"role" name:"ROLE" help:"over the root, or victim"`
	Src  answer.Value `key:"from" name:"FROM" kind:"place"`
	Dst  answer.Value `key:"to" name:"TO" kind:"place"`
	Rate answer.Value `key:"gigabytes_per_second" name:"GB/S" kind:"float" help:"estimated"`
	Low  answer.Value `key:"at_least_gigabytes_per_second" name:"AT LEAST" kind:"float" help:"0: it may not exist"`
	Jobs answer.Value `key:"jobs" name:"JOBS" kind:"texts" help:"jobs of both hosts"`
	answer.Lead
}

var (
	rootTable = answer.Table[root]{Key: "root_list", Title: "roots", Fields: answer.Fields[root]()}
	portTable = answer.Table[port]{Key: "ports", Title: "waiting ports", Fields: answer.Fields[port]()}
	userTable = answer.Table[user]{Key: "users", Title: "flows of roots and victims", Fields: answer.Fields[user]()}
)

var decl = answer.Decl[*result]{
	Command: "congestion", Help: "where congestion begins, and what it affects", Facts: answer.Fields[*result](),
	Verdict: func(r *result) (answer.Verdict, string) {
		v := verdict.Of(r.Count > 0, r.unread)
		return v, prose.When(v == answer.OK, "", prose.Count(r.Count, "root")+" of congestion")
	},
	Fails: answer.Asked,
	Title: "congestion in {of} from {since} to {until}: {waiting|port} waiting, {roots|root}",
	Layout: []answer.Item[*result]{
		{Line: "no congestion", When: func(r *result) bool { return r.Count == 0 && !r.unread }},
		{
			Line: "no congestion was found in what was read",
			When: func(r *result) bool { return r.Count == 0 && r.unread },
		},
		{Table: answer.Show(&rootTable, func(r *result) answer.Rows[root] { return answer.Slice(r.roots) }),
			When: func(r *result) bool { return r.Count > 0 }},
		{Table: answer.Show(&portTable, func(r *result) answer.Rows[port] { return shown(r.ports, r.limit) }),
			When: func(r *result) bool { return len(r.ports) > 0 }},
		{Table: answer.Show(&userTable, func(r *result) answer.Rows[user] { return shown(r.users, r.limit) }),
			When: func(r *result) bool { return len(r.users) > 0 }},
	},
}

func shown[R any](list []R, limit int) answer.Rows[R] {
	rows := answer.Slice(list)
	rows.Shown = limit
	return rows
}

func run(c *feature.Call) error {
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	w, err := window(c)
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.Basis(w.Picture, session.NeedLinks|session.NeedTables)
	jobs, err := jobsOf(c, &b, w)
	if err != nil {
		return err
	}
	tree, err := w.Congestion(c.Ctx, joblinks.Prefer(jobs))
	if err != nil {
		return err
	}
	note(&b, w, tree)
	r := &result{Since: w.From.Local(), Until: w.Until.Local(), Waiting: len(tree.Waiting), Count: len(tree.Roots),
		Flows: len(tree.Flows.All), limit: limit}
	r.unread = len(w.NotRead)+len(w.Saturated)+tree.Flows.Unknown > 0
	r.fill(w, tree, jobs)
	return c.Answer(decl.Answer(b, r))
}

// window returns the traffic of the period of the options, or that between two readings now.
func window(c *feature.Call) (*traffic.Window, error) {
	if c.Option("since", "") == "" && c.Option("until", "") == "" {
		if err := c.CountTwice(); err != nil {
			return nil, err
		}
		return traffic.Now(c.Ctx, c.Session)
	}
	since, until, err := c.Span("1h")
	if err != nil {
		return nil, err
	}
	p, err := c.Session.At(c.Ctx, until)
	if err != nil {
		return nil, err
	}
	return traffic.Recorded(c.Ctx, c.Session, p, since, until)
}

// note adds the parts of the window that are not known to the basis.
func note(b *answer.Basis, w *traffic.Window, tree *congestion.Tree) {
	f := w.Picture.Fabric
	feature.NotRead(b, f, "port", "its counters were not read", w.NotRead)
	feature.NotRead(b, f, "counter", "it reached its maximum (saturated)", w.Saturated)
	if n := tree.Flows.Unknown; n > 0 {
		b.Unread.Note("path", "a forwarding table was not read", n, answer.Place{})
	}
	feature.NoteRelativeWaits(b, w.Relative)
}

// jobsOf returns the jobs of the end ports. It returns nil if no job could be listed, which the basis then notes.
func jobsOf(c *feature.Call, b *answer.Basis, w *traffic.Window) (map[fabric.PortIndex][]string, error) {
	all, err := joblinks.List(c.Ctx, c.Session, w.From, w.Until)
	if err != nil {
		b.Unread.Note("list of jobs", err.Error(), 1, answer.Place{})
		return nil, c.Ctx.Err()
	}
	return all.Of(w.Picture.Fabric)
}

func (r *result) fill(w *traffic.Window, tree *congestion.Tree, jobs map[fabric.PortIndex][]string) {
	f := w.Picture.Fabric
	rootsOf := map[fabric.PortIndex][]int{}
	for i := range tree.Roots {
		x := &tree.Roots[i]
		for _, p := range x.Tree {
			rootsOf[p] = append(rootsOf[p], i+1)
		}
		at := x.Ports[0]
		row := root{Number: i + 1, Cause: string(x.Cause), Port: answer.Port(f, at),
			To: answer.Port(f, f.Ports[at].Peer), amounts: amountsOf(w, at), Share: answer.Float(x.Share, 2),
			ShareText: fmt.Sprintf("%.0f %%", 100*x.Share), Tree: len(x.Tree), Through: len(x.Through),
			Victims: len(x.Victims), Jobs: answer.NotRead(), Affected: answer.NotRead(),
			Evidence: evidence(w, x), Lead: feature.ToPort(f, at)}
		if x.Cause == congestion.Ring {
			ring := make([]answer.Value, len(x.Ports))
			for k, p := range x.Ports {
				ring[k] = answer.Port(f, p)
			}
			row.Ring = answer.List(ring)
		}
		if jobs != nil {
			over, affected := jobsOn(tree, x.Through, jobs), jobsOn(tree, x.Victims, jobs)
			affected = slices.DeleteFunc(affected, func(id string) bool {
				id = strings.TrimPrefix(id, possibly)
				return slices.Contains(over, id) || slices.Contains(over, possibly+id)
			})
			row.Jobs, row.Affected = answer.Texts(over), answer.Texts(affected)
		}
		r.roots = append(r.roots, row)
		r.addUsers(tree, i, x.Through, "over the root", jobs)
		r.addUsers(tree, i, x.Victims, "victim", jobs)
	}
	for _, p := range tree.Waiting {
		r.ports = append(r.ports, port{Port: answer.Port(f, p), To: answer.Port(f, f.Ports[p].Peer),
			amounts: amountsOf(w, p), Roots: answer.Ints(rootsOf[p]),
			For:  prose.List(prose.Words(rootsOf[p], func(n int) string { return fmt.Sprint(n) }), len(rootsOf[p])),
			Lead: feature.ToPort(f, p)})
	}
}

func (r *result) addUsers(tree *congestion.Tree, i int, list []int, role string, jobs map[fabric.PortIndex][]string) {
	f := tree.Flows.Tables.Fabric
	for _, k := range list {
		x := &tree.Flows.All[k]
		row := user{Root: i + 1, Role: role, Src: answer.Port(f, x.Src), Dst: answer.Port(f, x.Dst),
			Rate: answer.Float(x.Bytes/1e9, 3), Low: answer.Float(x.Least/1e9, 3), Jobs: answer.NotRead(),
			Lead: feature.ToPort(f, x.Src)}
		if jobs != nil {
			row.Jobs = answer.Texts(jobsOn(tree, []int{k}, jobs))
		}
		r.users = append(r.users, row)
	}
}

// jobsOn returns the jobs that have both hosts of a flow, "possibly ID" if it is not certain that the flow exists.
func jobsOn(tree *congestion.Tree, list []int, jobs map[fabric.PortIndex][]string) []string {
	ids := []string{}
	for _, isCertain := range []bool{true, false} {
		for _, k := range list {
			x := &tree.Flows.All[k]
			for _, id := range jobs[x.Src] {
				if isCertain != (x.Least > 0) || !slices.Contains(jobs[x.Dst], id) || slices.Contains(ids, id) ||
					slices.Contains(ids, possibly+id) {
					continue
				}
				ids = append(ids, prose.When(isCertain, id, possibly+id))
			}
		}
	}
	return ids
}

const possibly = "possibly "

// amountsOf returns the load and the wait of a port.
func amountsOf(w *traffic.Window, p fabric.PortIndex) amounts {
	x := &w.Ports[p]
	a := amounts{Saturated: slices.Contains(w.Saturated, p), Relative: x.Relative}
	text := func(v float64, saturated bool) (answer.Value, string) {
		switch {
		case saturated:
			return answer.NotRead(), "saturated"
		case v < 0:
			return answer.NotRead(), "not read"
		}
		return answer.Float(v, 3), fmt.Sprintf("%.0f %%", 100*v)
	}
	a.Load, a.LoadText = text(x.Load, a.Saturated && x.Load == flows.Unknown)
	a.Wait, a.WaitText = text(x.Wait, x.AtLeast)
	if x.Relative {
		a.WaitText += " (relative)"
	}
	return a
}

// evidence returns the measured facts that name the cause of a root.
func evidence(w *traffic.Window, r *congestion.Root) string {
	f := w.Picture.Fabric
	x, p := &w.Ports[r.Ports[0]], &f.Ports[r.Ports[0]]
	switch {
	case r.Cause == congestion.Ring:
		return fmt.Sprintf("%s wait for each other", prose.Count(len(r.Ports), "port"))
	case r.Cause == congestion.Oversubscribed:
		return "full, and ports wait for it"
	case r.Cause == congestion.SlowReceiver:
		return "waits, is not full, and leads to a host"
	case x.Reduced:
		return fmt.Sprintf("runs at %v %v, less than both ends allow", p.Width, p.Speed)
	case x.Faulty:
		return fmt.Sprintf("bit error rate above %g", congestion.MaxErrorRate)
	}
	return "waits, and no next port waits or is full"
}
