// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/ucastcache"
	"example.org/ibconsole/routing/engines"
)

// TestCacheEqualsOpenSM changes a subnet with an OpenSM that has a unicast routing cache: hosts, leaves, other switches
// and links fail, come back and move. After each step OpenSM's cache is valid if ours is, invalid for one of our
// reasons, and its tables are those of our cache or else of the engine.
func TestCacheEqualsOpenSM(t *testing.T) {
	repeat(t, 3, 60, 3, func(t *testing.T, r *rand.Rand, _ int) { cacheLives(t, r) })
}

// cacheSteps is the number of events in a sequence.
const cacheSteps = 7

func cacheLives(t *testing.T, r *rand.Rand) {
	l := newLife(t, r, randomChain(r), true)
	var tables *fabric.Tables
	var stored ucastcache.Cache
	for step := range cacheSteps {
		if step > 0 && !l.happen(r) {
			return
		}
		from := l.manager.logged()
		l.run(t)
		f, err := withLIDs(l.whole.Without(l.lost), l.manager.dir)
		if err != nil {
			t.Fatal(err)
		}
		next, verdict := stored.Next(f)
		l.events = append(l.events, fmt.Sprintf("=> %v", verdict))
		if next == nil {
			next = l.route(t, f, tables)
			stored = ucastcache.New(next)
		}
		if err := l.manager.decided(from, verdict); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if err := sameLFTs(l.manager.dir, &routing.Result{Tables: next}); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		tables = next
	}
	t.Log(l)
}

// life is a subnet with a sequence of events.
type life struct {
	what    string
	sim     *ibsimtest.Sim
	manager *manager
	trial   *trial
	whole   *fabric.Fabric
	lost    []fabric.Link
	// back reports that the last event added a link.
	back bool
	// still keeps cables in their ports.
	still    bool
	commands []string
	events   []string
}

// newLife starts an OpenSM on a fabric, with or without its unicast cache.
func newLife(t *testing.T, r *rand.Rand, chain []string, cache bool) *life {
	l := &life{}
	for l.whole == nil || len(between(l.whole)) < 3 {
		l.what, l.whole = randomFabric(t, r)
		if r.IntN(3) > 0 {
			l.what = []string{
				"fattree:2,4", "fattree:2,6", "fattree:3,4", "xgft:2,3,4,1,3,1,2", "xgft:3,2,3,4,1,2,2,1,2,1",
			}[r.IntN(5)]
			l.whole = gentest.Fabric(t, l.what)
		}
	}
	l.trial = &trial{chain: chain, opt: randomOptions(r, l.whole)}
	if l.trial.chain[len(l.trial.chain)-1] == engines.NoFallback {
		l.trial.chain = l.trial.chain[:1]
	}
	l.trial.opt.LMC = []uint8{0, 0, 1, 2}[r.IntN(4)]
	if !cache {
		l.sim = start(t, l.whole)
		l.manager = startManager(t, l.sim, l.trial)
		return l
	}
	levels := filepath.Join(t.TempDir(), "levels")
	write(t, levels, "osm_ucast_cache.c 0x4f\n")
	l.trial.conf = "use_ucast_cache TRUE\nper_module_logging_file " + levels + "\n"
	l.sim = start(t, l.whole)
	l.manager = startManager(t, l.sim, l.trial)
	return l
}

func (l *life) String() string {
	return fmt.Sprintf("%s, engines %q, options %+v, %q", l.what, l.trial.chain, l.trial.opt, l.events)
}

// run executes the commands in ibsim, and waits for OpenSM's sweep after each.
func (l *life) run(t *testing.T) {
	if len(l.commands) == 0 {
		l.manager.rest(t)
	}
	for _, c := range l.commands {
		if output := l.sim.Console(c); strings.Contains(output, "#") {
			t.Fatalf("ibsim: %s: %s", c, output)
		}
		l.manager.rest(t)
	}
	l.events = append(l.events, l.commands...)
	l.commands = nil
}

// happen chooses the next event; it reports false if there is nothing left to fail.
func (l *life) happen(r *rand.Rand) bool {
	now := l.whole.Without(l.lost)
	l.back = false
	switch k := r.IntN(10); {
	case len(l.lost) > 0 && k < 4:
		l.comeBack(r)
	case k < 6:
		return l.loseLink(r, hostLinks(now)) || l.loseLink(r, between(now))
	case k < 8:
		return l.loseSwitch(r, now) || l.loseLink(r, hostLinks(now))
	case k == 8 && !l.still && l.moveHost(r, now):
	default:
		return l.loseLink(r, between(now)) || l.loseLink(r, hostLinks(now))
	}
	return true
}

func (l *life) loseLink(r *rand.Rand, links []fabric.Link) bool {
	if len(links) == 0 {
		return false
	}
	link := links[r.IntN(len(links))]
	l.lost = append(slices.Clone(l.lost), link)
	l.commands = append(l.commands, "Unlink "+l.end(link))
	return true
}

// end returns the switch's end of a link as ibsim writes it.
func (l *life) end(link fabric.Link) string {
	p := &l.whole.Ports[link.A]
	if !l.whole.Nodes[p.Node].IsSwitch() {
		p = &l.whole.Ports[link.B]
	}
	return fmt.Sprintf("%q[%d]", l.whole.Nodes[p.Node].Desc, p.Num)
}

// word returns ibsim's command that removes a switch's links. After Clear the switch comes back without its LID, which
// no simulated failure does.
func (l *life) word(r *rand.Rand) string {
	word := []string{"Unlink", "Clear"}[r.IntN(2)]
	if l.still {
		word = "Unlink"
	}
	return word
}

// linksOf returns the links of a node.
func linksOf(f *fabric.Fabric, node fabric.NodeIndex) []fabric.Link {
	return slices.DeleteFunc(f.Links(), func(l fabric.Link) bool {
		return f.Ports[l.A].Node != node && f.Ports[l.B].Node != node
	})
}

// loseSwitch removes all links of a switch that is not next to the subnet manager.
func (l *life) loseSwitch(r *rand.Rand, now *fabric.Fabric) bool {
	var all []fabric.NodeIndex
	sm := now.Ports[now.SMPort].Node
	for _, n := range now.Switches {
		touches := n == sm || slices.ContainsFunc(linksOf(now, sm), func(l fabric.Link) bool {
			return now.Ports[l.A].Node == n || now.Ports[l.B].Node == n
		})
		if now.Nodes[n].InSubnet && !touches {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return false
	}
	n := all[r.IntN(len(all))]
	l.lost = append(slices.Clone(l.lost), linksOf(now, n)...)
	l.commands = append(l.commands, fmt.Sprintf("%s %q", l.word(r), now.Nodes[n].Desc))
	return true
}

// comeBack restores a lost link, or all lost links of a node.
func (l *life) comeBack(r *rand.Rand) {
	link := l.lost[r.IntN(len(l.lost))]
	back := []fabric.Link{link}
	word := "ReLink " + l.end(link)
	if r.IntN(4) > 0 {
		n := l.whole.Ports[link.A].Node
		if m := l.whole.Ports[link.B].Node; !l.whole.Nodes[n].IsSwitch() || len(linksOf(l.whole.Without(l.lost), m)) <
			len(linksOf(l.whole.Without(l.lost), n)) {
			n = m
		}
		if l.whole.Nodes[n].IsSwitch() {
			back = linksOf(l.whole, n)
			word = fmt.Sprintf("ReLink %q", l.whole.Nodes[n].Desc)
		}
	}
	l.lost = slices.DeleteFunc(slices.Clone(l.lost), func(l fabric.Link) bool { return slices.Contains(back, l) })
	l.commands = append(l.commands, word)
	l.back = true
}

// moveHost moves a host's cable to another port, of any switch.
func (l *life) moveHost(r *rand.Rand, now *fabric.Fabric) bool {
	links := hostLinks(now)
	var free []fabric.PortIndex
	for _, n := range now.Switches {
		for p := now.Nodes[n].FirstPort + 1; now.Nodes[n].InSubnet && p <= now.Nodes[n].FirstPort+
			fabric.PortIndex(now.Nodes[n].NumPorts); p++ {
			if !l.whole.Ports[p].Linked() {
				free = append(free, p)
			}
		}
	}
	if len(links) == 0 || len(free) == 0 {
		return false
	}
	link, to := links[r.IntN(len(links))], free[r.IntN(len(free))]
	host, old := link.A, link.B
	if now.Nodes[now.Ports[host].Node].IsSwitch() {
		host, old = old, host
	}
	g := *l.whole
	g.Ports = slices.Clone(g.Ports)
	g.Ports[old].Peer, g.Ports[host].Peer, g.Ports[to].Peer = fabric.None, to, host
	l.whole = g.Without(nil)
	h, s := &now.Ports[host], &now.Ports[to]
	l.commands = append(l.commands, "Unlink "+l.end(link),
		fmt.Sprintf("Link %q[%d] %q[%d]", now.Nodes[s.Node].Desc, s.Num, strings.TrimSuffix(now.Nodes[h.Node].Desc,
			" HCA-1"), h.Num))
	l.back = true
	return true
}

// route computes tables, and keeps routes unless a link came back.
func (l *life) route(t *testing.T, f *fabric.Fabric, before *fabric.Tables) *fabric.Tables {
	l.trial.opt.Existing = nil
	if before != nil && !l.back {
		l.trial.opt.Existing = before.LFT
	}
	res, _, err := tryAll(t.Context(), l.trial.chain, f, l.trial.opt)
	if err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	l.trial.opt.Existing = nil
	l.manager.raiseTops(t, res.Tables)
	return res.Tables
}

func (m *manager) logged() int {
	text, err := os.ReadFile(m.log)
	if err != nil {
		return 0
	}
	return len(text)
}

var (
	computed    = []byte("tables configured on all switches")
	invalidated = regexp.MustCompile(`(?m)([^\n]*)\n[^\n]*Unicast Cache invalidated`)
	reasons     = []struct {
		words *regexp.Regexp
		kinds []ucastcache.Kind
	}{
		{
			regexp.MustCompile(`(Dropped|Missing) non-leaf switch|missing link to non-leaf switch`),
			[]ucastcache.Kind{ucastcache.SwitchGone},
		},
		{regexp.MustCompile(`missing link to existing switch`), []ucastcache.Kind{ucastcache.LinkGone}},
		{regexp.MustCompile(`missing leaf-2-leaf link`), []ucastcache.Kind{ucastcache.LeafLinkGone}},
		{regexp.MustCompile(`Link location change|Found uncached|New switch|New CA/RTR|Remote lid change`),
			[]ucastcache.Kind{ucastcache.LinkNew, ucastcache.NodeNew}},
	}
)

// decided compares the new lines about the cache in OpenSM's log with a verdict.
func (m *manager) decided(from int, v ucastcache.Verdict) error {
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err
	}
	text = text[from:]
	if v.Holds() == bytes.Contains(text, computed) {
		return fmt.Errorf("our verdict is: %v; OpenSM logs:\n%s", v, text)
	}
	why := invalidated.FindSubmatch(text)
	if why == nil || v.Holds() {
		return nil
	}
	for _, r := range reasons {
		if r.words.Match(why[1]) {
			if !slices.ContainsFunc(v.Reasons, func(x ucastcache.Reason) bool {
				return slices.Contains(r.kinds, x.Kind)
			}) {
				return fmt.Errorf("OpenSM's reason is %q, ours are %v", why[1], v.Reasons)
			}
			return nil
		}
	}
	return fmt.Errorf("OpenSM's reason %q is unknown", why[1])
}
