// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/base/prose"
)

// Subject is the object that the selected row of a pane is about.
type Subject struct {
	Fabric *fabric.Fabric
	// Node is the node, or None if the row is not about a node. Port is a port of this node, or None if the row is
	// about the node as a whole.
	Node   fabric.NodeIndex
	Port   fabric.PortIndex
	Link   fabric.PortIndex   // the port whose link can fail; None if the node is meant
	With   []fabric.PortIndex // ports whose links fail together with that one
	System string             // the argument of fail director, if the row is a whole system
	Via    fabric.PortIndex   // the port at which the node is shown, if it belongs to another node; or None
	Facts  []Fact             // more about the row, none if the node is all
}

// Fact is a name with a value, such as "severity" with "error".
type Fact struct{ Name, Text string }

// Nothing is the subject of a row that is not about an object.
var Nothing = Subject{Node: fabric.None, Port: fabric.None, Link: fabric.None, Via: fabric.None}

// commandsFor returns the commands for a subject, and for the links that fail together with it. If there is no command
// at all, the result why is the reason.
func (s Subject) commandsFor(command func(Subject) (string, string)) (all, why string) {
	all, why = command(s)
	for _, link := range s.With {
		s.Node, s.Link = s.Fabric.Ports[link].Node, link
		if next, no := command(s); no == "" {
			all, why = strings.TrimPrefix(all+"; "+next, "; "), ""
		}
	}
	return all, why
}

// Fail returns the command that simulates the failure of the subject, or the reason why there is none.
func (sc *Scene) Fail(s Subject) (command, why string) { return s.commandsFor(sc.failOne) }

func (sc *Scene) failOne(s Subject) (command, why string) {
	if s.Node == fabric.None {
		return "", "no link, switch or host is selected"
	}
	f := sc.State.Paper()
	if s.Link != fabric.None {
		node, port := PlaceOf(s.Fabric, s.Fabric.Ports[s.Link].Node, s.Link).In(f)
		switch {
		case port == fabric.None:
			return "", s.Fabric.PortName(s.Link) + " is not in the what-if state"
		case !f.Ports[port].Linked():
			return "", f.PortName(port) + " has no link that could fail"
		}
		return fmt.Sprintf("fail link %s %d", NodeWord(f, node), f.Ports[port].Num), ""
	}
	node, _ := PlaceOf(s.Fabric, s.Node, fabric.None).In(f)
	switch {
	case node == fabric.None:
		return "", s.Fabric.NodeName(s.Node) + " is not in the what-if state"
	case f.LinkedPorts(&f.Nodes[node]) == 0:
		return "", f.NodeName(node) + " has no links left that could fail"
	}
	what := prose.When(f.Nodes[node].IsSwitch(), "switch", "node")
	return fmt.Sprintf("fail %s %s", what, NodeWord(f, node)), ""
}

// Restore returns the command that restores the subject, or the reason why there is none.
func (sc *Scene) Restore(s Subject) (command, why string) { return s.commandsFor(sc.restoreOne) }

func (sc *Scene) restoreOne(s Subject) (command, why string) {
	switch {
	case sc.State.Base == nil || len(sc.State.Failures) == 0:
		return "", "there are no simulated failures"
	case s.Node == fabric.None:
		return "", "no link, switch or host is selected"
	}
	f := sc.State.Whole()
	node, _ := PlaceOf(s.Fabric, s.Node, fabric.None).In(f)
	suspects := []fabric.NodeIndex{node}
	if link := max(s.Link, s.Via); link != fabric.None {
		owner, port := PlaceOf(s.Fabric, s.Fabric.Ports[link].Node, link).In(f)
		if port != fabric.None {
			if l, ok := f.LinkOf(port); ok && sc.linkFailure(l) {
				return fmt.Sprintf("restore link %s %d", NodeWord(f, owner), f.Ports[port].Num), ""
			}
			suspects = append(suspects, owner, f.PeerNode(port))
		}
	}
	for _, n := range suspects {
		if what := sc.nodeFailure(n); what != "" {
			return fmt.Sprintf("restore %s %s", what, NodeWord(f, n)), ""
		}
	}
	if s.Link != fabric.None {
		return "", s.Fabric.PortName(s.Link) + " has not failed"
	}
	return "", s.Fabric.NodeName(s.Node) + " has not failed"
}

func (sc *Scene) linkFailure(l fabric.Link) bool {
	return slices.ContainsFunc(sc.State.Failures, func(f failures.Failure) bool { return f.InvolvesLink(l) })
}

// nodeFailure returns "switch" or "node" if a node is itself a simulated failure, otherwise "".
func (sc *Scene) nodeFailure(node fabric.NodeIndex) string {
	for i := range sc.State.Failures {
		if node != fabric.None && sc.State.Failures[i].InvolvesNode(node) {
			return sc.State.Failures[i].What
		}
	}
	return ""
}

// OfWord returns the option of=STATE that makes a command use the shown state, or "".
func (sc *Scene) OfWord() string { return prose.When(sc.Of == "", "", " of="+string(sc.Of)) }
