// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

const maxCandidates = 200 // of one completion

// env completes names of the subnet.
type env struct {
	session *session.Session
	among   *Subnets
}

// Names returns the completion of names of the subnet.
func (sh *Shell) Names() lang.Env { return env{sh.session, sh.among} }

// Candidates implements [lang.Env].
func (e env) Candidates(ask lang.Ask) []lang.Candidate {
	switch {
	case ask.Kind == lang.KindSubnet:
		return words(e.among.names())
	case e.session == nil:
		return nil
	}
	st := e.session.State()
	f := st.Paper()
	switch ask.Kind {
	case lang.KindEngine:
		if ask.Command == "engine" && strings.HasPrefix(ask.Prefix, "-") {
			return words(settings.FlagNames())
		}
		return words(append(settings.EngineNames(), settings.VendorEngines()...))
	case lang.KindPicture:
		return words(feature.StateNames())
	case lang.KindPlace:
		if name, begun, ok := strings.Cut(ask.Prefix, "/"); ok {
			ports := portCandidates(f, lang.Ask{Args: []string{name}, Prefix: begun})
			for i := range ports {
				ports[i].Text = name + "/" + ports[i].Text
			}
			return ports
		}
		return nodeCandidates(f, false, ask.Prefix)
	case lang.KindNode:
		return nodeCandidates(f, false, ask.Prefix)
	case lang.KindSwitch:
		return nodeCandidates(f, true, ask.Prefix)
	case lang.KindPort:
		return portCandidates(f, ask)
	}
	return nil
}

func words(list []string) []lang.Candidate {
	var out []lang.Candidate
	for _, w := range list {
		out = append(out, lang.Candidate{Text: w})
	}
	return out
}

// nodeCandidates returns nodes whose names begin with the prefix.
func nodeCandidates(f *fabric.Fabric, switchesOnly bool, prefix string) []lang.Candidate {
	var out []lang.Candidate
	for i := range f.Nodes {
		n := &f.Nodes[i]
		name := f.NodeName(fabric.NodeIndex(i))
		if (switchesOnly && !n.IsSwitch()) || !strings.HasPrefix(name, prefix) {
			continue
		}
		out = append(out, lang.Candidate{
			Text: name, Description: fmt.Sprintf("%s, LID %s", feature.TypeWord(n.Type),
				answer.LID(feature.NodeLID(f, n))),
		})
		if len(out) == maxCandidates {
			break
		}
	}
	return out
}

// portCandidates returns the linked ports of the node in the words before.
func portCandidates(f *fabric.Fabric, ask lang.Ask) []lang.Candidate {
	if len(ask.Args) == 0 {
		return nil
	}
	node, err := places.ResolveNode(f, ask.Args[len(ask.Args)-1])
	if err != nil {
		return nil
	}
	var out []lang.Candidate
	n := &f.Nodes[node]
	for p := range n.Ports() {
		num := fmt.Sprint(f.Ports[p].Num)
		if f.Ports[p].Linked() && strings.HasPrefix(num, ask.Prefix) {
			out = append(out, lang.Candidate{Text: num, Description: "to " + f.PortName(f.Ports[p].Peer)})
		}
	}
	return out
}
