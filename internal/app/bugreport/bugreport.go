// SPDX-License-Identifier: Apache-2.0

// Package bugreport writes the facts for a bug report: about the program, the machine and the subnets, mostly as
// numbers. Names, GUIDs, addresses, paths and keys are left out.
package bugreport

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad/umad"
)

// Report is what is known.
type Report struct {
	Version  string
	Findings []umad.Finding // of doctor
	Subnets  []Subnet
	// Words are the arguments of the user that may contain names, such as sources. The report replaces these words.
	Words []string
}

// Subnet holds the facts about one subnet, or the error if the subnet could not be read.
type Subnet struct {
	Kind   string // of the source
	Failed error
	Fabric *fabric.Fabric
	// Structure describes the kind of topology in words. Managers are the states of the subnet managers. Figures holds
	// further numbers by name.
	Structure string
	Managers  []string
	Figures   map[string]string
}

// Write writes a report as Markdown.
func (r *Report) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	hide := hider(r.names())
	p("# ibconsole: what a report of a bug needs\n")
	p("Names, GUIDs, addresses, paths and keys are left out. Look through it before you send it.\n")
	p("## Program\n")
	p("* ibconsole %s", r.Version)
	p("* %s, %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	p("\n## Machine\n")
	for _, line := range machine() {
		p("* %s", hide(line))
	}
	p("\n## What doctor says\n")
	for _, f := range r.Findings {
		p("* %v: %s%s", f.Level, hide(f.Text), hide(then(f.Remedy)))
	}
	for i := range r.Subnets {
		p("\n## Subnet %d, %s\n", i+1, r.Subnets[i].Kind)
		for _, line := range r.Subnets[i].lines() {
			p("* %s", hide(line))
		}
	}
	return w.Flush()
}

func then(remedy string) string {
	if remedy == "" {
		return ""
	}
	return " (" + remedy + ")"
}

// names returns the names that the report hides, each with the kind of thing that it names: "node", for example.
func (r *Report) names() map[string]string {
	names := map[string]string{}
	for _, s := range r.Subnets {
		if s.Fabric == nil {
			continue
		}
		for i := range s.Fabric.Nodes {
			n := &s.Fabric.Nodes[i]
			names[n.Desc], names[s.Fabric.NodeName(fabric.NodeIndex(i))] = "node", "node"
			host, _, _ := strings.Cut(n.Desc, " ")
			names[host] = "node"
		}
	}
	for _, word := range r.Words {
		names[word] = "source"
		if _, arg, ok := strings.Cut(word, ":"); ok {
			names[arg] = "source"
		}
	}
	if host, err := os.Hostname(); err == nil {
		names[host] = "host"
	}
	if u, err := user.Current(); err == nil && u.Username != "root" {
		names[u.Username] = "user"
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		names[home] = "home"
	}
	delete(names, "")
	return names
}

// machine is what the system is.
func machine() []string {
	var lines []string
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		lines = append(lines, "Linux "+strings.TrimSpace(string(text)))
	}
	if text, err := os.ReadFile("/etc/os-release"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
				lines = append(lines, strings.Trim(strings.TrimSpace(name), `"`))
			}
		}
	}
	for _, name := range []string{"TERM", "COLORTERM", "LANG", "LC_ALL", "NO_COLOR"} {
		if value, ok := os.LookupEnv(name); ok {
			lines = append(lines, name+"="+value)
		}
	}
	for _, name := range []string{"TMUX", "SSH_CONNECTION", "SUDO_USER"} {
		if _, ok := os.LookupEnv(name); ok {
			lines = append(lines, name+" is set")
		}
	}
	return lines
}

// lines are what is known of a subnet.
func (s *Subnet) lines() []string {
	if s.Failed != nil {
		return []string{"it could not be read: " + s.Failed.Error()}
	}
	f := s.Fabric
	kinds, devices, links := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		kinds[n.Type.String()]++
		devices[fmt.Sprintf("%v of %d ports, vendor 0x%06x, device %d, revision %s", n.Type, n.NumPorts, n.VendorID,
			n.DeviceID, prose.When(n.NoRevision, "not read", fmt.Sprintf("0x%x", n.Revision)))]++
	}
	for _, l := range f.Links() {
		links[fmt.Sprintf("%v%v", f.Ports[l.A].Width, f.Ports[l.A].Speed)]++
	}
	lines := []string{
		"nodes: " + strings.Join(tally(kinds), ", "), "links: " + strings.Join(tally(links), ", "), "structure: " +
			s.Structure,
		fmt.Sprintf("highest LID: %d", f.MaxLID), "subnet managers: " + cmp.Or(strings.Join(s.Managers, "; "),
			"none was seen"),
	}
	for _, name := range slices.Sorted(maps.Keys(s.Figures)) {
		lines = append(lines, name+": "+s.Figures[name])
	}
	const mostDevices = 40
	all := tally(devices)
	return append(lines, all[:min(len(all), mostDevices)]...)
}
