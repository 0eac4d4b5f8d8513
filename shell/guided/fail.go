// SPDX-License-Identifier: Apache-2.0

package guided

import (
	"errors"
	"fmt"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

var errNoSubnet = errors.New("no subnet was read; hint: run 'sweep'")

// Fail returns the flow that asks which failure to simulate.
func Fail(s *session.Session) *Flow {
	return &Flow{answers: map[string]string{}, next: func(f *Flow) (*Question, error) {
		st := s.State()
		paper := st.Paper()
		what := f.answers["what"]
		switch {
		case len(paper.Nodes) == 0:
			return nil, errNoSubnet
		case !f.has("what"):
			return &Question{Name: "what", Text: "What should fail in the simulation?", Default: "link",
				Choices: []Choice{
					{"link", "one cable"}, {"switch", "a switch with all its links"},
					{"node", "a host, or a switch, with all its links"},
					{"director", "all switches of one chassis"}, {"random", "links between switches, chosen by a seed"},
				}, Explain: []string{"Nothing is written to switches. undo reverts the failure."}}, nil
		case what == "random":
			return f.askRandom(paper), nil
		case !f.has("name"):
			return askFailing(paper, what), nil
		case what == "link" && !f.has("port"):
			return f.askPort(paper)
		}
		return nil, nil
	}, command: func(f *Flow) string {
		if f.answers["what"] == "random" {
			return fmt.Sprintf("fail random %s seed=%s", f.answers["links"], f.answers["seed"])
		}
		command := fmt.Sprintf("fail %s %s", f.answers["what"], lang.Quote(f.answers["name"]))
		if f.has("port") {
			command += " " + f.answers["port"]
		}
		return command
	}}
}

func (f *Flow) askRandom(paper *fabric.Fabric) *Question {
	if f.has("links") && f.has("seed") {
		return nil
	}
	if f.has("links") {
		return &Question{Name: "seed", Text: "Which seed? A seed always chooses the same links.", Default: "1",
			check: func(text string) error {
				if _, err := strconv.ParseUint(text, 10, 31); err != nil {
					return fmt.Errorf("%q is not a seed: expected a number from 0", text)
				}
				return nil
			}}
	}
	links := 0
	for p := range paper.Ports {
		if linkload.ClassOf(paper, fabric.PortIndex(p)) == linkload.BetweenSwitches &&
			paper.Ports[p].Peer > fabric.PortIndex(p) {
			links++
		}
	}
	return &Question{Name: "links", Text: fmt.Sprintf("How many of the %d links between switches?", links),
		check: func(text string) error {
			if n, err := strconv.Atoi(text); err != nil || n < 1 || n > links {
				return fmt.Errorf("%q is not a number of links: expected 1 to %d", text, links)
			}
			return nil
		}}
}

func askFailing(paper *fabric.Fabric, what string) *Question {
	q := &Question{
		Name: "name", Text: "Which " + what + "?", Explain: []string{
			"A name or its beginning, lid:N or guid:0xN.",
		},
	}
	switch what {
	case "link":
		q.Text = "At which switch or host does the cable end?"
		q.check = func(name string) error { _, err := places.ResolveNode(paper, name); return err }
	case "switch":
		q.check = func(name string) error { _, err := places.ResolveSwitch(paper, name); return err }
	case "director":
		q.Text, q.Explain = "Which chassis?", []string{
			"A switch of the chassis, or PREFIX* for all switches with that prefix.",
		}
		q.check = func(name string) error { _, _, err := places.ResolveSystem(paper, name); return err }
	default:
		q.check = func(name string) error { _, err := places.ResolveNode(paper, name); return err }
	}
	return q
}

// askPort returns the question for a linked port of a node.
func (f *Flow) askPort(paper *fabric.Fabric) (*Question, error) {
	node, err := places.ResolveNode(paper, f.answers["name"])
	if err != nil {
		return nil, err
	}
	q := &Question{Name: "port", Text: "Which port of " + paper.NodeName(node) + "?"}
	n := &paper.Nodes[node]
	for p := range n.Slots() {
		if port := &paper.Ports[p]; port.Num > 0 && port.Linked() {
			q.Choices = append(q.Choices, Choice{strconv.Itoa(int(port.Num)), "to " + paper.PortName(port.Peer)})
		}
	}
	if len(q.Choices) == 0 {
		return nil, fmt.Errorf("no port of %s has a link", paper.NodeName(node))
	}
	return q, nil
}
