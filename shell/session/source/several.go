// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/mad/umad"
)

// Named is a source with a name that distinguishes its subnet from others.
type Named struct {
	Name   string
	Source Source
}

// mostSubnets is the maximum number of subnets of a console.
const mostSubnets = 64

// EveryPort is the source for all active ports of this machine.
const EveryPort = "umad:all"

// ParseAll parses the sources that a user gives. Sources without a name get a unique name that is derived from the
// source. The forms are:
//
//   - SOURCE or NAME=SOURCE
//   - the name of a set of sources
//   - umad:all for every active InfiniBand port of this machine
//   - sim:rails:N,KIND:ARGS for N simulated subnets of the same hosts
func ParseAll(given []string, sets map[string][]string) ([]Named, error) {
	var all []Named
	for _, text := range given {
		list := []string{text}
		if set, ok := sets[text]; ok {
			list = set
		}
		for _, text := range list {
			named, err := expand(text)
			if err != nil && !strings.ContainsAny(text, ":=") {
				return nil, fmt.Errorf("%w, and no configuration has a set of that name (%s)", err, setNames(sets))
			}
			if err != nil {
				return nil, err
			}
			if all = append(all, named...); len(all) > mostSubnets {
				return nil, fmt.Errorf("%d sources, expected at most %d", len(all), mostSubnets)
			}
		}
	}
	names := map[string]int{}
	for i := range all {
		n := &all[i]
		names[n.Name]++
		if again := names[n.Name]; again > 1 {
			n.Name = fmt.Sprintf("%s-%d", n.Name, again)
			names[n.Name]++
		}
	}
	return all, nil
}

// setNames lists the names of the sets.
func setNames(sets map[string][]string) string {
	if len(sets) == 0 {
		return "it has none"
	}
	return strings.Join(slices.Sorted(maps.Keys(sets)), ", ")
}

// expand returns the sources of one text.
func expand(text string) ([]Named, error) {
	name, source, ok := strings.Cut(text, "=")
	if !ok || strings.Contains(name, ":") {
		name, source = "", text
	} else if name == "" || name == AllSubnets || strings.ContainsAny(name, " \t,;'\"\\") {
		return nil, fmt.Errorf("%q: expected NAME=SOURCE, a name of one word that is not %s", text, AllSubnets)
	}
	var all []Named
	var err error
	spec, rails := strings.CutPrefix(source+":", "sim:rails:")
	spec = strings.TrimSuffix(spec, ":")
	switch {
	case source == EveryPort:
		all, err = activePorts()
	case rails:
		all, err = simulatedRails(spec)
	default:
		var src Source
		src, err = Parse(source)
		all = []Named{{src.short(), src}}
	}
	if name == "" || err != nil {
		return all, err
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%q names %d subnets, but a name stands for one subnet", text, len(all))
	}
	all[0].Name = name
	return all, nil
}

// AllSubnets is the word that selects all subnets, used instead of a name.
const AllSubnets = "all"

// short returns a short name that is derived from the source.
func (s Source) short() string {
	switch s.Kind {
	case File, Net, Ibdiagnet:
		return filepath.Base(s.Arg)
	case Umad, Ibsim:
		if s.Arg == "" {
			return string(s.Kind)
		}
	}
	return strings.Join(strings.Fields(s.Arg), ",")
}

// activePorts returns the usable InfiniBand ports of this machine as sources.
func activePorts() ([]Named, error) {
	ports, perr := umad.Ports("")
	active := umad.Active(ports)
	if len(active) == 0 {
		return nil, Doctored(errors.Join(fmt.Errorf("%s: %w: no InfiniBand port is active", EveryPort,
			umad.ErrNoPort), perr))
	}
	of := map[string]int{}
	for _, p := range active {
		of[p.CA]++
	}
	var all []Named
	for _, p := range active {
		n := Named{p.CA, Source{Umad, fmt.Sprintf("%s:%d", p.CA, p.Number)}}
		if of[p.CA] > 1 {
			n.Name = n.Source.Arg
		}
		all = append(all, n)
	}
	return all, nil
}

// simulatedRails returns the simulated subnets that "N,KIND:ARGS" describes.
func simulatedRails(spec string) ([]Named, error) {
	count, of, found := strings.Cut(spec, ",")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > mostSubnets || !found || of == "" {
		return nil, fmt.Errorf("sim:rails:%s: expected sim:rails:N,KIND:ARGS, N from 1 to %d", spec, mostSubnets)
	}
	kind, args, _ := strings.Cut(of, ":")
	var all []Named
	for i := 1; i <= n; i++ {
		rail := fmt.Sprintf("rail=%d", i)
		switch {
		case strings.Contains(args, " "):
			rail = args + " " + rail
		case args != "":
			rail = args + "," + rail
		}
		all = append(all, Named{fmt.Sprintf("rail-%d", i), Source{Sim, kind + ":" + rail}})
	}
	return all, nil
}
