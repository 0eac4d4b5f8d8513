// SPDX-License-Identifier: Apache-2.0

package partitions_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"example.org/ibconsole/fabric"
)

// policyWriter writes a random policy.
type policyWriter struct {
	r              *rand.Rand
	f              *fabric.Fabric
	b              strings.Builder
	groups, levels []string
}

// randomPolicy returns a policy that is mostly right.
func randomPolicy(r *rand.Rand, f *fabric.Fabric) string {
	w := &policyWriter{r: r, f: f}
	sections := []func(){w.protocols, w.portGroups, w.setup, w.qosLevels, w.rules}
	if r.IntN(6) == 0 {
		r.Shuffle(3, func(i, j int) { sections[i], sections[j] = sections[j], sections[i] })
	}
	for i, s := range sections {
		if i >= 3 || i == 1 || r.IntN(3) == 0 {
			s()
		}
	}
	text := w.b.String()
	if r.IntN(5) == 0 {
		text = damaged(r, text)
	}
	return text
}

func (w *policyWriter) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat(" ", w.r.IntN(4)))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteString([]string{"\n", "\n", "\n", " \n", " # a remark\n", "\n\n# another: name\n"}[w.r.IntN(6)])
}

// pick returns one of some words.
func (w *policyWriter) pick(words ...string) string { return words[w.r.IntN(len(words))] }

// key returns a keyword with its colon.
func (w *policyWriter) key(word string) string { return word + w.pick(": ", ":", " : ", "\t:\t") }

func (w *policyWriter) sl() int { return w.r.IntN(16) }

func (w *policyWriter) pKeys() string {
	return w.pick("0x7fff", "0xffff", "0x21", "33", "0x8100", "0x20-0x30", "0x21,0x100", "0x7000-0x20", "041",
		"0x21 - 0x21")
}

// ports returns port GUIDs as a list of ranges.
func (w *policyWriter) ports() string {
	var all []string
	for range 1 + w.r.IntN(4) {
		guid := w.f.Ports[w.f.EndPorts[w.r.IntN(len(w.f.EndPorts))]].GUID
		if w.r.IntN(3) == 0 {
			all = append(all, fmt.Sprintf("0x%x-0x%x", guid+uint64(w.r.IntN(6)), guid))
		} else {
			all = append(all, fmt.Sprintf(w.pick("0x%x", "%d", "0X%X"), guid))
		}
	}
	return strings.Join(all, w.pick(",", ", ", " , "))
}

func (w *policyWriter) services() string {
	return w.pick("22", "0x16,4719-5000", "0x10000-0x1ffff", "5000-4719", "0x1060cbc", "017300")
}

func (w *policyWriter) protocols() {
	w.line("qos-ulps")
	for range 1 + w.r.IntN(4) {
		rule := w.pick("default ", "sdp", "sdp, port-num 900", "SDP,port-num 1-899,901", "rds",
			"rds, port-num 25000-25010",
			"iser", "iSER, port-num 3260", "srp, target-port-guid "+w.ports(), "ipoib", "IPoIB , pkey "+w.pKeys(),
			"any, service-id "+w.services(), "any, pkey "+w.pKeys(), "any, target-port-guid "+w.ports(),
			"any, source-port-guid "+w.ports(), "any, source-target-port-guid "+w.ports())
		if w.r.IntN(20) == 0 {
			rule = w.pick("sdp, port-num 65536", "srp", "any, port-num 1", "ipoib, pkey 1-9")
		}
		w.line("%s : %d", rule, w.sl())
	}
	w.line("end-qos-ulps")
}

func (w *policyWriter) portGroups() {
	w.line("port-groups")
	for range 1 + w.r.IntN(3) {
		name := w.pick("Storage", "hosts", "All nodes", "storage", "g1", "sl-0", "X_"+fmt.Sprint(w.r.IntN(9)))
		if w.r.IntN(30) == 0 {
			name = w.pick("a,b", "my port-group", "to: x")
		}
		w.line("port-group")
		w.line("%s%s", w.key("name"), name)
		for range w.r.IntN(4) {
			w.portGroupEntry()
		}
		w.line("end-port-group")
		w.groups = append(w.groups, name)
	}
	w.line("end-port-groups")
}

func (w *policyWriter) portGroupEntry() {
	switch w.r.IntN(6) {
	case 0:
		w.line("%s%s", w.key("use"), w.pick("our storage, sl: 3 - and so on", "name: x", `"quoted" 12`))
	case 1:
		w.line("%s%s", w.key("port-guid"), w.ports())
	case 2:
		node := &w.f.Nodes[w.r.IntN(len(w.f.Nodes))]
		n := node.Desc // OpenSM reads memory outside its table for a larger port number than the node has
		num := w.r.IntN(int(node.NumPorts) + 1)
		w.line("%s%s", w.key("port-name"), w.pick(fmt.Sprintf(`"%s/P1"`, n), n+"/P1", fmt.Sprintf(`"%s/p%d"`, n, num),
			"nobody/P1", `"`+n+`"/P1`, "nobody/Port1"))
		if w.r.IntN(10) == 0 {
			w.line("%s%s", w.key("port-name"), w.pick(n, "a/b", "a/P0"))
		}
	case 3:
		w.line("%s%s", w.key("pkey"), w.pKeys())
	case 4:
		w.line("%s%s", w.key("partition"), w.pick("Fast", "Slow", "fast", "Default", "Fast,Slow", "None"))
	case 5:
		w.line("%s%s", w.key("node-type"), w.pick("CA", "switch", "ROUTER", "SELF", "ALL", "CA, SELF", "ca,Switch"))
	}
}

func (w *policyWriter) setup() {
	w.line("qos-setup")
	if w.r.IntN(2) == 0 {
		w.line("vlarb-tables\nvlarb-scope\n%sStorage\nvlarb-high: 0:255,1:127\nvlarb-low: 8:255\nvl-high-limit: 10\n"+
			"end-vlarb-scope\nend-vlarb-tables", w.key(w.pick("group", "across")))
	}
	if w.r.IntN(2) == 0 {
		w.line("sl2vl-tables\nsl2vl-scope\n%sStorage\nfrom: *\n%s%s\nsl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,"+
			"%s\nend-sl2vl-scope\nend-sl2vl-tables", w.key(w.pick("group", "across", "across-to", "across-from")),
			w.key("to"), w.pick("*", "1,3-127", "127-0", "127-0", "127-0", "127-128"),
			w.pick("7", "7", "7", "15", "16", "7,7"))
	}
	w.line("end-qos-setup")
}

func (w *policyWriter) qosLevels() {
	w.line("qos-levels")
	names := []string{"DEFAULT", w.pick("fast", "slow"), w.pick("sl8", "a:b", "Fast")}
	for _, name := range names[w.r.IntN(16)/15 : 1+w.r.IntN(3)] {
		w.line("qos-level")
		w.line("%s%s", w.key("name"), name)
		sl := w.sl()
		if w.r.IntN(20) == 0 {
			sl = []int{16, 17, 33, 40, 255, 261, 272}[w.r.IntN(7)]
		}
		w.line("%s%d", w.key("sl"), sl)
		switch w.r.IntN(12) {
		case 0, 1:
			w.line("%s%s", w.key("pkey"), w.pKeys())
		case 2:
			w.line("%s%d", w.key("mtu-limit"), 1+w.r.IntN(5+w.r.IntN(5)/4))
		case 3:
			w.line("%s%d", w.key("rate-limit"), []int{2, 2, 3, 5, 10, 15, 22, 22, 1, 23}[w.r.IntN(10)])
		case 4:
			w.line("%s%d", w.key("packet-life"), w.r.IntN(300))
		case 5:
			w.line("%s1,2,4-7", w.key("path-bits"))
		}
		w.line("end-qos-level")
		w.levels = append(w.levels, name)
	}
	w.line("end-qos-levels")
}

func (w *policyWriter) rules() {
	w.line("qos-match-rules")
	for range w.r.IntN(5) {
		w.line("qos-match-rule")
		level := "default"
		if len(w.levels) > 0 {
			level = w.pick(w.levels...)
		}
		w.line("%s%s", w.key("qos-level-name"), w.pick(level, strings.ToUpper(level), level))
		if w.r.IntN(30) == 0 {
			w.line("%s%s", w.key("qos-level-name"), "no such")
		}
		for _, end := range []string{"source", "destination"} {
			if len(w.groups) > 0 && w.r.IntN(2) == 0 {
				w.line("%s%s", w.key(end), w.pick(w.pick(w.groups...), w.pick(w.groups...)+", "+w.pick(w.groups...),
					strings.ToLower(w.pick(w.groups...))))
			}
		}
		if w.r.IntN(3) == 0 {
			w.line("%s%s", w.key("qos-class"), w.pick("7-9,11", "3", "0-5"))
		}
		if w.r.IntN(3) == 0 {
			w.line("%s%s", w.key("service-id"), w.services())
		}
		if w.r.IntN(4) == 0 {
			w.line("%s%s", w.key("pkey"), w.pKeys())
		}
		if w.r.IntN(4) == 0 {
			w.line("%s%s", w.key("use"), "bla, 7 bla")
		}
		w.line("end-qos-match-rule")
	}
	w.line("end-qos-match-rules")
}

// damaged returns the text with a line removed, repeated or swapped, or with a changed or removed character.
func damaged(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(6) {
	case 0:
		lines[i] = ""
	case 1:
		lines[i] += lines[i]
	case 2:
		lines[i], lines[j] = lines[j], lines[i]
	case 3:
		lines[i] = strings.TrimSuffix(lines[i], "\n")
	default:
		at := r.IntN(len(text))
		return text[:at] + []string{"", "x", "#", "\"", ":", "-", ",", " ", "9", "\r"}[r.IntN(10)] + text[at+r.IntN(2):]
	}
	return strings.Join(lines, "")
}
