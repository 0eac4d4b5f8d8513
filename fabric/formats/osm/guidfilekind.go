// SPDX-License-Identifier: Apache-2.0

package osm

// GUIDFileKind is an option of OpenSM that names a file of GUIDs.
type GUIDFileKind uint8

// The options, and what stands on a line of their files.
const (
	RootGUIDs    GUIDFileKind = iota // root_guid_file: a switch
	ComputeNodes                     // cn_guid_file: a port
	IONodes                          // io_guid_file: a port
	SwitchIDs                        // ids_guid_file: a switch and a number
	RoutingOrder                     // guid_routing_order_file: a port
	IgnoredPorts                     // port_prof_ignore_file: a switch and a port number
	HopWeights                       // hop_weights_file: a switch, a port number and a weight
	SearchOrder                      // port_search_ordering_file: a switch and port numbers
)

var guidFileKinds = []struct {
	option string
	ports  bool
	broken string
}{
	{"root_guid_file", false, "updn takes the roots before it and looks for others itself, ftree looks for roots itself and does not ask for a pure fat-tree (ERR AA02, AB2A)"},
	{"cn_guid_file", true, "ftree, dfsssp and sssp refuse (ERR AB23, AD33)"},
	{"io_guid_file", true, "ftree, dfsssp and sssp refuse (ERR AB28, AD35)"},
	{"ids_guid_file", false, "updn takes the numbers before it (ERR AA03)"},
	{"guid_routing_order_file", true, "OpenSM takes the ports before it (ERR 3A0D)"},
	{"port_prof_ignore_file", false, "OpenSM takes the lines before it (ERR 3A0E)"},
	{"hop_weights_file", false, "OpenSM takes the lines before it (ERR 3A05)"},
	{"port_search_ordering_file", false, "OpenSM takes the lines before it (ERR 3A0F)"},
}

// Option is the name of the option.
func (k GUIDFileKind) Option() string { return guidFileKinds[k].option }

// OfPorts says that the file's GUIDs are port GUIDs; else they are node GUIDs of switches.
func (k GUIDFileKind) OfPorts() bool { return guidFileKinds[k].ports }

// AfterBroken says what OpenSM does where such a file is [GUIDFile.Broken] or cannot be read.
func (k GUIDFileKind) AfterBroken() string { return guidFileKinds[k].broken }
