// SPDX-License-Identifier: Apache-2.0

// Package source parses and opens the source of a subnet: an adapter, ibsim, a simulation or a file.
package source

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad/umad"
)

// Kind is the kind of a source.
type Kind string

// The kinds of sources.
const (
	Umad  Kind = "umad"
	Ibsim Kind = "ibsim"
	Sim   Kind = "sim"
	File  Kind = "file"
	// Net is a topology file that is read by the rules of ibsim.
	Net Kind = "net"
	// Ibdiagnet is a folder with the output of ibdiagnet 2, or its db_csv file.
	Ibdiagnet Kind = "ibdiagnet"
)

// DefaultSimulation is the subnet that is simulated if there is no other source: a two-level fat-tree of 36-port
// switches with 648 hosts.
const DefaultSimulation = "sim:fattree:2,36"

// Var is the environment variable that contains the default source.
const Var = "IBCONSOLE_SOURCE"

// Default returns the source to use if the user gives none. This is the source in the environment variable [Var]. If
// the variable is not set, it is umad if an InfiniBand port of this machine can be used, otherwise [DefaultSimulation].
// The result note is the reason why an existing port is not used, or "".
func Default(held *umad.HeldDevices) (source, note string) {
	if name := os.Getenv(Var); name != "" {
		return name, ""
	}
	p, err := umad.Usable("", held)
	switch {
	case err == nil:
		return p.Source(), ""
	case errors.Is(err, umad.ErrNoPort):
		return DefaultSimulation, ""
	}
	return DefaultSimulation, fmt.Sprintf("%s cannot be used, so a subnet is simulated: %v (see: ibconsole doctor)",
		p.Source(), err)
}

// Source identifies a subnet to open: "umad[:CA[:PORT]]", "ibsim[:NAME]", "ibsim:HOST:PORT", "sim:FILE",
// "sim:KIND:ARGS", "file:FILE", "net:FILE" or "ibdiagnet:FOLDER".
type Source struct {
	Kind Kind
	Arg  string // what follows the kind and a colon
}

// Parse parses the name of a source.
func Parse(s string) (Source, error) {
	kind, arg, _ := strings.Cut(s, ":")
	src := Source{Kind: Kind(kind), Arg: arg}
	switch src.Kind {
	case Ibsim:
		if _, _, ok := src.Remote(); strings.Contains(arg, ":") && !ok {
			return Source{}, fmt.Errorf("source %q has no UDP port after the host, expected ibsim:HOST:1 to 65535", s)
		}
		return src, nil
	case Umad:
		if _, err := umad.ParseSelector(arg); err != nil {
			return Source{}, fmt.Errorf("source %q: %w", s, err)
		}
		return src, nil
	case Sim, File, Net, Ibdiagnet:
		if arg == "" {
			return Source{}, fmt.Errorf("source %q names no file", s)
		}
		return src, nil
	}
	return Source{}, fmt.Errorf("source %q is none of umad[:CA[:PORT]], ibsim[:NAME], sim:FILE, sim:KIND:ARGS, "+
		"file:FILE, net:FILE, ibdiagnet:FOLDER", s)
}

// String returns the name.
func (s Source) String() string {
	return prose.When(s.Arg == "", string(s.Kind), string(s.Kind)+":"+s.Arg)
}

// Offline reports whether the source is a file, so that no packets can be sent.
func (s Source) Offline() bool {
	return s.Kind == File || s.Kind == Net || s.Kind == Ibdiagnet
}

// Live reports whether the subnet exists independently of the session.
func (s Source) Live() bool { return s.Kind == Umad || s.Kind == Ibsim }

// Remote splits the argument of an ibsim source into a host and a UDP port. ok is false if the argument does not
// contain both.
func (s Source) Remote() (host string, port int, ok bool) {
	host, num, found := strings.Cut(s.Arg, ":")
	if !found {
		return "", 0, false
	}
	port, err := strconv.Atoi(num)
	return host, port, err == nil && port > 0 && port < 65536
}
