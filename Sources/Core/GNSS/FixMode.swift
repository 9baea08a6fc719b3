/// Whether altitude was solved for (GSA field 2).
package enum FixMode: String, Sendable, Hashable, CaseIterable {
    case twoDimensional = "2d"
    case threeDimensional = "3d"
}
