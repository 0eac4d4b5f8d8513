// SPDX-License-Identifier: Apache-2.0

// Package capture writes the MADs that a transport carries to a file for Wireshark's InfiniBand dissector.
//
// The file is a pcap file of ERF records. A transport sees MADs and not packets, so the headers round a MAD are
// what they are on the wire as far as known: directed routes go between permissive LIDs on VL 15, other LIDs are
// the own port's and the partner's, queue pairs and Q_Keys are those of the class; the P_Key is the default one,
// the VL of general services 0, the packet sequence number and the CRCs are 0.
//
// A capture is made to be handed on, so keys that open the subnet are not in it, they read 0: the M_Key of
// subnet management packets, of PortInfo and PortInfoRecord, and of the notice of a wrong M_Key; the SM_Key
// of SMInfo, SMInfoRecord and of all subnet administration packets; and the keys that the classes of boards
// and of congestion control have where the others have the M_Key. Everything else is written as it is: data
// of attributes that only one vendor knows, and service records.
package capture
