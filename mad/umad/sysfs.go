// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Directories below a root.
const (
	classInfiniband = "/sys/class/infiniband"
	classMAD        = "/sys/class/infiniband_mad"
	devices         = "/dev/infiniband"
	pciDevices      = "/sys/bus/pci/devices"
	processes       = "/proc"
)

func devicePath(root, name string) string { return filepath.Join(root, devices, name) }

// ABIVersion is the version of ib_umad's interface that this package supports.
const ABIVersion = 5

// Errors of [Open].
var (
	ErrNoModule = errors.New("the module ib_umad is not loaded")
	ErrABI      = errors.New("unknown version of the umad interface")
)

func checkABI(root string) error {
	path := filepath.Join(root, classMAD, "abi_version")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNoModule, err)
	}
	if err != nil {
		return err
	}
	if s := trim(b); s != strconv.Itoa(ABIVersion) {
		return fmt.Errorf("%w: %s contains %q, expected %d", ErrABI, path, s, ABIVersion)
	}
	return nil
}

func trim(b []byte) string { return strings.TrimRight(string(b), " \t\r\n\x00") }

// attributes reads the small files of a sysfs directory. It collects the errors.
type attributes struct {
	dir  string
	errs []error
}

// text returns the contents of a file, "" if the file is missing.
func (a *attributes) text(name string) string {
	b, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.errs = append(a.errs, err)
	}
	return trim(b)
}

// value parses a file. If the file is missing, it returns the zero value.
func value[T any](a *attributes, name string, parse func(string) (T, error)) T {
	var v T
	s := a.text(name)
	if s == "" {
		return v
	}
	v, err := parse(s)
	if err != nil {
		a.errs = append(a.errs, fmt.Errorf("%s: %w", filepath.Join(a.dir, name), err))
	}
	return v
}

// exists reports whether the directory has an entry with this name.
func (a *attributes) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(a.dir, name))
	return err == nil
}

// parseCode parses a text such as "4: ACTIVE" and returns the number.
func parseCode(s string) (uint8, error) {
	number, _, ok := strings.Cut(s, ":")
	v, err := strconv.ParseUint(number, 16, 8)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q, expected NUMBER: WORD", s)
	}
	return uint8(v), nil
}

// parseGUID parses "0002:c903:0029:6de0".
func parseGUID(s string) (uint64, error) { return parseQuads(s, 4, "four") }

// parseGID parses a GID such as "fe80:0000:0000:0000:0002:c903:0029:6de1". It returns the GUID, which is the lower
// half.
func parseGID(s string) (uint64, error) { return parseQuads(s, 8, "eight") }

// parseQuads parses n groups of hexadecimal digits and returns the number that the last four groups form.
func parseQuads(s string, n int, number string) (v uint64, err error) {
	groups := strings.Split(s, ":")
	wrong := len(groups) != n
	for _, g := range groups {
		q, err := strconv.ParseUint(g, 16, 16)
		wrong = wrong || err != nil || len(g) != 4
		v = v<<16 | q
	}
	if wrong {
		return 0, fmt.Errorf("%q, expected %s groups of four hexadecimal digits", s, number)
	}
	return v, nil
}

// parse16 parses a text such as "0xffff". parseMask parses a text such as "0x0250e848".
func parse16(s string) (uint16, error)   { return parseHex[uint16](s, 16) }
func parseMask(s string) (uint32, error) { return parseHex[uint32](s, 32) }

func parseHex[T uint16 | uint32](s string, bits int) (T, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	v, err := strconv.ParseUint(digits, 16, bits)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q, expected 0x and a hexadecimal number of %d bits", s, bits)
	}
	return T(v), nil
}

// parsePort parses a port number from 0 to 255.
func parsePort(s string) (int, error) {
	v, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("%q, expected the number of a port from 0 to 255", s)
	}
	return int(v), nil
}
