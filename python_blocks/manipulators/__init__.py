"""Arms of rigid links, joint by joint, and motors that replace their joints."""
