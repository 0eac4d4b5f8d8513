// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/lang"
)

// subject is what the selected row of a pane is about.
type subject struct {
	f *fabric.Fabric
	// node is None where the row is about nothing; port is the port of it that is
	// meant, or None.
	node fabric.NodeIndex
	port fabric.PortIndex
	// link is the port whose link can fail; None where the node is meant.
	link fabric.PortIndex
	// with are ports whose links fail together with that one.
	with []fabric.PortIndex
	// via is the port at which the node is seen, where it is another's, or None.
	via fabric.PortIndex
}

var nothing = subject{node: fabric.None, port: fabric.None, link: fabric.None, via: fabric.None}

// each gives the command for a subject, of links that fail together one after the
// other; else why says why there is none for any of them.
func (s subject) each(command func(subject) (string, string)) (all, why string) {
	all, why = command(s)
	for _, link := range s.with {
		s.node, s.link = s.f.Ports[link].Node, link
		if next, no := command(s); no == "" {
			all, why = strings.TrimPrefix(all+"; "+next, "; "), ""
		}
	}
	return all, why
}

// nodeWord names a node as a command understands it: by its name if that leads
// to it, else by its GUID.
func nodeWord(f *fabric.Fabric, node fabric.NodeIndex) string { return lang.Quote(nodeRef(f, node)) }

// nodeRef is nodeWord unquoted.
func nodeRef(f *fabric.Fabric, node fabric.NodeIndex) string {
	name := f.NodeName(node)
	if n, err := places.ResolveNode(f, name); err == nil && n == node && plain(name) {
		return name
	}
	return fmt.Sprintf("guid:0x%016x", f.Nodes[node].GUID)
}

// portWord names an end port: by its node where there is no other, else by
// NAME/PORT or the port GUID.
func portWord(f *fabric.Fabric, end fabric.PortIndex) string {
	node := f.Ports[end].Node
	name := f.NodeName(node)
	if p, err := places.Resolve(f, name); err == nil && p.Port == end && up(f, &f.Nodes[node]) < 2 || f.Nodes[node].IsSwitch() {
		return nodeWord(f, node)
	}
	name = f.PortName(end)
	if p, err := places.Resolve(f, name); err == nil && p.Port == end && plain(name) {
		return lang.Quote(name)
	}
	return fmt.Sprintf("guid:0x%016x", f.Ports[end].GUID)
}

// fail is the command that lets the subject fail on paper; else why says why
// there is none.
func (sc *scene) fail(s subject) (command, why string) { return s.each(sc.failOne) }

func (sc *scene) failOne(s subject) (command, why string) {
	if s.node == fabric.None {
		return "", "nothing that can fail is selected"
	}
	f := sc.st.Paper()
	if s.link != fabric.None {
		node, port := placeOf(s.f, s.f.Ports[s.link].Node, s.link).in(f)
		switch {
		case port == fabric.None:
			return "", s.f.PortName(s.link) + " is not on the paper"
		case !f.Ports[port].Linked():
			return "", f.PortName(port) + " has no link that could fail"
		}
		return fmt.Sprintf("fail link %s %d", nodeWord(f, node), f.Ports[port].Num), ""
	}
	node, _ := placeOf(s.f, s.node, fabric.None).in(f)
	switch {
	case node == fabric.None:
		return "", s.f.NodeName(s.node) + " is not on the paper"
	case up(f, &f.Nodes[node]) == 0:
		return "", f.NodeName(node) + " has no links left that could fail"
	}
	what := "node"
	if f.Nodes[node].IsSwitch() {
		what = "switch"
	}
	return fmt.Sprintf("fail %s %s", what, nodeWord(f, node)), ""
}

// restore is the command that takes back the failure that the subject suffers
// from; else why says why there is none.
func (sc *scene) restore(s subject) (command, why string) { return s.each(sc.restoreOne) }

func (sc *scene) restoreOne(s subject) (command, why string) {
	switch {
	case sc.st.Base == nil || len(sc.st.Failures) == 0:
		return "", "nothing has failed on paper"
	case s.node == fabric.None:
		return "", "nothing that could be restored is selected"
	}
	f := sc.st.Base.Fabric
	node, _ := placeOf(s.f, s.node, fabric.None).in(f)
	suspects := []fabric.NodeIndex{node}
	if link := max(s.link, s.via); link != fabric.None {
		owner, port := placeOf(s.f, s.f.Ports[link].Node, link).in(f)
		if port != fabric.None {
			if l, ok := f.LinkOf(port); ok && sc.linkFailure(l) {
				return fmt.Sprintf("restore link %s %d", nodeWord(f, owner), f.Ports[port].Num), ""
			}
			suspects = append(suspects, owner, f.PeerNode(port))
		}
	}
	for _, n := range suspects {
		if what := sc.nodeFailure(n); what != "" {
			return fmt.Sprintf("restore %s %s", what, nodeWord(f, n)), ""
		}
	}
	if s.link != fabric.None {
		return "", s.f.PortName(s.link) + " has not failed on paper"
	}
	return "", s.f.NodeName(s.node) + " has not failed on paper"
}

func (sc *scene) linkFailure(l fabric.Link) bool {
	for i := range sc.st.Failures {
		if sc.st.Failures[i].InvolvesLink(l) {
			return true
		}
	}
	return false
}

// nodeFailure is "switch" or "node" where a node has failed on paper.
func (sc *scene) nodeFailure(node fabric.NodeIndex) string {
	for i := range sc.st.Failures {
		if node != fabric.None && sc.st.Failures[i].InvolvesNode(node) {
			return sc.st.Failures[i].What
		}
	}
	return ""
}

// ofWord is the option that makes a reading command read what the panes show.
func (sc *scene) ofWord() string {
	if sc.of == "" {
		return ""
	}
	return " of=" + string(sc.of)
}
